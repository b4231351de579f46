// Loaded before a program: makes it say when it has come to the point that HANG names, and go no further. `asked`: a decision is known.
// `executed`: a tool was executed, and that is not kept yet. `kept`: it is kept, and the model is not asked yet.
const DECISION = /^\w+ \S*\/questions\/.*"state":"(\w+)"/s;
const OUTPUT = /^PUT \S*\/effects\/\S*tool\S*call-1\/result/;

const point = process.env['HANG'];
const wire = globalThis.fetch;

function hang(): Promise<never> {
  process.stdout.write(`at ${point}\n`);
  return new Promise(() => undefined);
}

if (point !== undefined) {
  globalThis.fetch = async (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
    const request = `${init?.method} ${String(input)}`;
    if (point === 'executed' && OUTPUT.test(request)) return hang();
    const response = await wire(input, init);
    if (point === 'kept' && OUTPUT.test(request)) return hang();
    const state = point === 'asked' ? DECISION.exec(`${request}\n${await response.clone().text()}`)?.[1] : undefined;
    if (state === 'open') process.stdout.write('waits\n');
    return state === 'decided' ? hang() : response;
  };
}
