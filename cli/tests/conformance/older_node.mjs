// Before 22, Node has no `globSync`. The suite imports it, and uses it for nothing that runs here.
import { register } from "node:module";

const module = (text) => `data:text/javascript,${encodeURIComponent(text)}`;
const fs = module(`export * from "node:fs"; export const globSync = undefined;`);
register(
  module(`export const resolve = (name, context, next) =>
    name === "fs" && context.parentURL.includes("/conformance/dist/")
      ? { url: ${JSON.stringify(fs)}, shortCircuit: true }
      : next(name, context);`),
);
