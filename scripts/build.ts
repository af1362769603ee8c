// Bundles the sources into build/, which `npm start` runs: that starts in half the time of the sources (docs/decisions/0046). Does nothing if they are unchanged.
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import type { Metafile, Plugin } from 'esbuild';
import { completePrograms } from '../src/db/postgres_programs.ts';

const top = path.resolve(import.meta.dirname, '..');
const folder = path.join(top, 'build');
/** The file with the digest of a build's sources; `src/foundation/installation.ts` reads it. */
const stampFile = 'made_from';

/** The programs that run as a process or a thread of their own, by their path in src/. */
const programs = [
  'main',
  'archives/reading_json_worker',
  'commands/http_process',
  'ci_configuration/compiling_worker',
  'expressions/matching_worker',
  'front_matter/reading_worker',
  'git/launcher_process',
  'highlighting/highlight_worker',
  'http/long_body_worker',
  'lockfiles/reading_worker',
  'markdown/html_worker',
  'markdown/plain_worker',
  'security_policies/reading_worker',
  'security_reports/reading_worker',
  'source_maps/mapping_worker',
  'state_files/reading_worker',
  'test_reports/reading_worker',
];

/** Packages loaded from node_modules: they locate files beside their own, are rarely used, or are optional. */
const external = ['ssh2', '@aws-sdk/client-s3', 'pg-native', 'esbuild'];

/** For packages of the old module system, which look for modules of Node by a function that new modules do not have. */
const require = `const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);`;

/**
 * `import … from 'node:http'` reads all names of the module, and the one of its WebSocket loads the client that `fetch` is made of: 50 ms and 10 MB. Asked as below,
 * the module gives what is used.
 */
const plainHttp: Plugin = {
  name: 'plain http',
  setup({ onResolve, onLoad }) {
    const names = Object.entries(Object.getOwnPropertyDescriptors(http)).flatMap(([name, { get }]) =>
      get ? [] : [name],
    );
    const contents = `const http = process.getBuiltinModule('node:http'); export const { ${names.join(', ')} } = http; export default http;`;
    onResolve({ filter: /^(node:)?http$/ }, ({ kind }) =>
      kind === 'require-call' ? null : { path: 'http', namespace: 'plain' },
    );
    onLoad({ filter: /./, namespace: 'plain' }, () => ({ contents }));
  },
};

/** Compared by content: times are useless, since git gives a file the time of its checkout. */
function stamp(): string {
  const sources = globSync('src/**/*.ts', { cwd: top, exclude: (name) => name.endsWith('.test.ts') });
  const hash = createHash('sha256');
  for (const file of [...sources.sort(), 'package-lock.json', 'scripts/build.ts'])
    hash.update(`${file}\0${readFileSync(path.join(top, file), 'utf8')}\0`);
  return hash.digest('hex');
}

const builtFrom = () => readFile(path.join(folder, stampFile), 'utf8').catch(() => undefined);

/** In a bundle, `import('package')` finds the names of a package of the old module system only below `default`, whereas Node finds them all. */
function refuseLostNames({ inputs }: Metafile): void {
  for (const [file, { imports }] of Object.entries(inputs))
    for (const { kind, path: imported } of imports)
      if (file.startsWith('src/') && kind === 'dynamic-import' && inputs[imported]?.format === 'cjs')
        throw new Error(`${file} loads ${imported} when needed: name its package in \`external\`.`);
}

/** A text in which one character is beyond ASCII takes two bytes of memory for each. Only expressions have any: esbuild escapes such characters in strings. */
async function escapeCharacters({ outputs }: Metafile): Promise<void> {
  for (const name of Object.keys(outputs).filter((output) => output.endsWith('.js'))) {
    const file = path.join(top, name);
    const code = await readFile(file, 'utf8');
    const escaped = code.replaceAll(
      /[^\0-\x7f]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    if (escaped !== code) await writeFile(file, escaped);
  }
}

/** Makes the folder elsewhere and moves it, so that it is always complete. */
async function write(wanted: string): Promise<void> {
  const { build } = await import('esbuild');
  const made = `${folder}-${process.pid}`;
  try {
    const { metafile } = await build({
      absWorkingDir: top,
      entryPoints: programs.map((name) => `src/${name}.ts`),
      outbase: 'src',
      outdir: made,
      bundle: true,
      splitting: true,
      chunkNames: 'chunks/[name]-[hash]',
      format: 'esm',
      platform: 'node',
      target: 'node24',
      external,
      banner: { js: require },
      plugins: [plainHttp],
      // Node keeps the text of all loaded modules in memory.
      minifyWhitespace: true,
      lineLimit: 160,
      sourcemap: true,
      logLevel: 'warning',
      metafile: true,
    });
    refuseLostNames(metafile);
    await escapeCharacters(metafile);
    await writeFile(path.join(made, stampFile), wanted);
    await rm(folder, { recursive: true, force: true });
    await rename(made, folder);
  } catch (error) {
    // Another process may have created the same build concurrently.
    if ((await builtFrom()) !== wanted) throw error;
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}

const wanted = stamp();
if ((await builtFrom()) !== wanted) await write(wanted);
await completePrograms();
