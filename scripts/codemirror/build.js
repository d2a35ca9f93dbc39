// Writes the component as one file, and the licence of each package in it as another: node build.js FOLDER
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2];
const made = await build({
  entryPoints: ["index.js"],
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "none",
  metafile: true,
  write: false,
});
const inputs = Object.keys(made.metafile.inputs).map((file) => file.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1]);
const packages = [...new Set(inputs.filter(Boolean))].sort().map((name) => {
  const place = join("node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
  const file = readdirSync(place).find((one) => /^licen[cs]e/i.test(one));
  if (!file) throw new Error(`${name} has no licence beside it`);
  return { called: `${name} ${version}`, license, text: readFileSync(join(place, file), "utf8").trim() };
});
// What it was made of: a test holds that this is what stands here.
const sources = ["package-lock.json", "index.js", "build.js"].map((file) => readFileSync(file));
const hash = createHash("sha256").update(Buffer.concat(sources)).digest("hex");
const head = `/* Made by scripts/editor of ${packages.map((one) => one.called).join(", ")}; licences: LICENSES.txt; sources: ${hash} */\n`;
writeFileSync(join(folder, "codemirror.js"), head + made.outputFiles[0].text);
const licences = packages.map((one) => `${one.called} (${one.license})\n\n${one.text}\n`).join(`\n${"-".repeat(80)}\n\n`);
writeFileSync(join(folder, "LICENSES.txt"), `codemirror.js contains these packages.\n\n${licences}`);
