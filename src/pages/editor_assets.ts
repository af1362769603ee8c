/** The editor for code. It is bundled when a browser first asks for it, since few pages have it; its address changes with its sources. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import { installedFile } from '../foundation/installation.ts';

const entry = 'assets/editor.js';
/** The files that decide on its content. */
const sources = [entry, 'src/highlighting/languages.ts', 'src/highlighting/marks.ts', 'package-lock.json'];

let address: string | undefined;

/** The address of the editor, whose grammars are loaded as they are needed. */
export function editorAddress(): string {
  if (address === undefined) {
    const hash = createHash('sha256');
    for (const file of sources) hash.update(readFileSync(installedFile(file)));
    address = `/assets/editor-${hash.digest('hex').slice(0, 12)}.js`;
  }
  return address;
}

const compress = promisify(brotliCompress);

/** The files of the editor by their addresses, compressed. */
async function bundle(): Promise<ReadonlyMap<string, Buffer>> {
  const { build, stop } = await import('esbuild');
  try {
    const { outputFiles } = await build({
      absWorkingDir: path.dirname(installedFile('package.json')),
      entryPoints: [entry],
      bundle: true,
      splitting: true,
      format: 'esm',
      minify: true,
      target: 'es2022',
      outdir: '/assets',
      entryNames: path.basename(editorAddress(), '.js'),
      chunkNames: 'editor-part-[hash]',
      legalComments: 'none',
      write: false,
      logLevel: 'silent',
    });
    const files = outputFiles.map(async (file) => [
      `/assets/${path.basename(file.path)}`,
      await compress(file.contents),
    ]);
    return new Map((await Promise.all(files)) as [string, Buffer][]);
  } finally {
    await stop();
  }
}

let bundled: Promise<ReadonlyMap<string, Buffer>> | undefined;

/** A file of the editor, compressed with brotli; undefined if there is none at the address. */
export async function editorFile(asked: string): Promise<Buffer | undefined> {
  if (asked !== editorAddress() && !asked.startsWith('/assets/editor-part-')) return undefined;
  bundled ??= bundle();
  // After a failure the next request tries again.
  bundled.catch(() => (bundled = undefined));
  return (await bundled).get(asked);
}
