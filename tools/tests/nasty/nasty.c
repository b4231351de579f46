/* Processes that do not want to die, one kind for each argument. Each of them writes its pid and its start time
   into a file before it does anything else, so that it can be looked for afterwards. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *ledger;

static void note(void) {
    char text[1024];
    int stat = open("/proc/self/stat", O_RDONLY);
    ssize_t length = read(stat, text, sizeof text - 1);
    close(stat);
    if (length <= 0) _exit(9);
    text[length] = 0;
    char *field = strrchr(text, ')') + 2;
    for (int number = 3; number < 22; number++) field = strchr(field, ' ') + 1;
    char line[64];
    int size = snprintf(line, sizeof line, "%d %s", (int)getpid(), field);
    size = (int)(strchr(line + strcspn(line, " ") + 1, ' ') - line);
    line[size++] = '\n';
    int file = open(ledger, O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (write(file, line, (size_t)size) != size) _exit(9);
    close(file);
}

static void ready(void) {
    if (write(1, "ready\n", 6) != 6) _exit(9);
}

static void wait_for_ever(void) {
    for (;;) pause();
}

static pid_t child(void) {
    pid_t pid = fork();
    if (pid < 0) _exit(9);
    if (pid == 0) note();
    return pid;
}

static void ignore_term(void) { signal(SIGTERM, SIG_IGN); }

static void in_session_of_its_own(void) {
    if (child() == 0) {
        ignore_term();
        setsid();
        ready();
    }
    wait_for_ever();
}

static void doubly_forked(void) {
    pid_t middle = child();
    if (middle == 0) {
        setsid();
        if (child() == 0) {
            ignore_term();
            ready();
            wait_for_ever();
        }
        _exit(0);
    }
    waitpid(middle, NULL, 0);
    wait_for_ever();
}

static void chain(void) {
    if (child() != 0) wait_for_ever();
    ignore_term();
    for (int generation = 0;; generation++) {
        setsid();
        if (generation == 20) ready();
        usleep(200);
        if (child() != 0) _exit(0);
    }
}

static void pipe_held(void) {
    int told[2];
    if (pipe(told) != 0) _exit(9);
    if (child() == 0) {
        setsid();
        ignore_term();
        ready();
        close(told[0]);
        close(told[1]);
        wait_for_ever();
    }
    /* Its end closes when the child has said that it is ready. */
    close(told[1]);
    char nothing;
    if (read(told[0], &nothing, 1) != 0) _exit(9);
    _exit(0);
}

/* Waits until the table shows the process as dead, which its other threads are not. */
static void *goes_on(void *nothing) {
    char text[1024];
    for (;;) {
        int stat = open("/proc/self/stat", O_RDONLY);
        ssize_t length = read(stat, text, sizeof text - 1);
        close(stat);
        if (length <= 0) _exit(9);
        text[length] = 0;
        if (strrchr(text, ')')[2] == 'Z') break;
    }
    ready();
    wait_for_ever();
    return nothing;
}

static void first_thread_ended(void) {
    pthread_t other;
    ignore_term();
    if (pthread_create(&other, NULL, goes_on, NULL) != 0) _exit(9);
    syscall(SYS_exit, 0);
}

static void many_files(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    for (int file = 0; file < 4000; file++) {
        if (open("/dev/null", O_RDONLY) < 0) _exit(9);
    }
    ignore_term();
    ready();
    wait_for_ever();
}

static void flood(void) {
    static char piece[65536];
    memset(piece, 'x', sizeof piece);
    ignore_term();
    ready();
    for (;;) {
        if (write(1, piece, sizeof piece) < 0) wait_for_ever();
    }
}

static void fork_more(int number) {
    (void)number;
    for (int more = 0; more < 3; more++) {
        if (child() == 0) {
            setsid();
            wait_for_ever();
        }
    }
}

static void forks_while_killed(void) {
    struct sigaction action = {.sa_handler = fork_more};
    sigaction(SIGTERM, &action, NULL);
    /* As many as this at a time, each replaced when it ends. */
    for (int living = 0;; living++) {
        if (living >= 4) wait(NULL);
        if (living == 8) ready();
        if (child() == 0) {
            usleep(300);
            _exit(0);
        }
    }
}

int main(int count, char **arguments) {
    if (count < 3) return 2;
    const char *kind = arguments[1];
    ledger = arguments[2];
    note();
    if (!strcmp(kind, "term_ignored")) {
        ignore_term();
        ready();
        wait_for_ever();
    } else if (!strcmp(kind, "setsid")) {
        in_session_of_its_own();
    } else if (!strcmp(kind, "double_fork")) {
        doubly_forked();
    } else if (!strcmp(kind, "fork_chain")) {
        chain();
    } else if (!strcmp(kind, "pipe_held")) {
        pipe_held();
    } else if (!strcmp(kind, "stopped")) {
        ready();
        raise(SIGSTOP);
        wait_for_ever();
    } else if (!strcmp(kind, "first_thread_ended")) {
        first_thread_ended();
    } else if (!strcmp(kind, "many_files")) {
        many_files();
    } else if (!strcmp(kind, "flood")) {
        flood();
    } else if (!strcmp(kind, "forks_while_killed")) {
        forks_while_killed();
    }
    return 2;
}
