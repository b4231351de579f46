// Loaded before a program: makes it say when it has come to a point, and go no further. HANG is the point: `asked`, once a decision is
// known; `executed`, once a tool was executed and before that is kept; `kept`, once it is kept and before the model is asked.
const REQUESTS: Readonly<Record<string, RegExp>> = {
  asked: /^GET .*\/questions\/.*"decided"/s,
  executed: /^PUT .*\/effects\/[^/]*tool[^/]*\/result/,
  kept: /^PUT .*\/effects\/[^/]*tool[^/]*\/result.*\n/s,
};

const point = process.env['HANG'] ?? '';
const request = REQUESTS[point];
const wire = globalThis.fetch;

async function hang(): Promise<never> {
  process.stdout.write(`at ${point}\n`);
  return new Promise(() => undefined);
}

if (request !== undefined) {
  globalThis.fetch = async (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
    const line = `${init?.method ?? 'GET'} ${String(input)}`;
    if (point === 'executed' && request.test(line)) return hang();
    const response = await wire(input, init);
    if (point !== 'executed' && request.test(`${line}\n${await response.clone().text()}`)) return hang();
    return response;
  };
}
