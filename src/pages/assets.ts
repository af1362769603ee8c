/** The style sheet and the script of pages. Their addresses change with their content, so browsers keep them for a year. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompressSync, constants } from 'node:zlib';
import { installedFile } from '../foundation/installation.ts';
import { type Doorway, door, jsonForm, notFound } from '../http/index.ts';
import { editorFile } from './editor_assets.ts';

interface Asset {
  type: string;
  read(): Buffer | Promise<Buffer>;
  headers?: Record<string, string>;
  /** The compressed content, once requested. */
  brotli?: Promise<Buffer>;
}

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.html': 'text/html; charset=utf-8',
};

/** An asset, with its address. */
type Addressed = [address: string, asset: Asset];

/** @param file its name in `assets/`. Its address contains a digest of its content. */
function assetOf(file: string, content: Buffer): Addressed {
  const { name, ext } = path.parse(file);
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 12);
  return [`/assets/${name}-${digest}${ext}`, { type: types[ext]!, read: () => content }];
}

const contentOf = (file: string): Buffer => readFileSync(path.join(installedFile('assets'), file));

/** Parts of the script that few pages load: it names them as `./NAME`. */
const parts = ['board.js', 'diagrams.js', 'keys.js', 'writing.js'];

/** Draws diagrams. It has two megabytes, and is read when somebody sees a diagram. */
function mermaidOf(): Addressed {
  const folder = path.dirname(fileURLToPath(import.meta.resolve('@mermaid-js/tiny/package.json')));
  const { version } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as { version: string };
  const file = path.join(folder, 'dist/mermaid.tiny.js');
  return [`/assets/mermaid-${version}.js`, { type: types['.js']!, read: () => readFile(file) }];
}

/** The frame in which diagrams are drawn: it needs styles that no page allows, and can reach nothing (docs/decisions/0160-diagrams-are-drawn-in-a-frame.md). */
function frameOf(scripts: readonly string[]): Addressed {
  const tags = scripts.map((address) => `<script src="${address}"></script>`).join('');
  const content = Buffer.from(`<!doctype html><html lang="en"><title>Diagram</title><body>${tags}</body></html>`);
  const policy =
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'; sandbox allow-scripts";
  return [
    diagramFrame,
    {
      type: types['.html']!,
      read: () => content,
      headers: { 'content-security-policy': policy, 'cache-control': 'no-cache' },
    },
  ];
}

/** The address of the frame. */
export const diagramFrame = '/assets/diagram.html';

/** The address of the style of the messages that are above and below every page. @param colors `#rgb` or `#rrggbb`, behind and of the text */
export const messageStyle = (...colors: readonly [background: string, font: string]): string =>
  `/assets/messages-${colors.map((color) => color.slice(1).toLowerCase()).join('-')}.css`;

/** What is at such an address. The colours are in the address, so that browsers keep it. */
function messageStyleAt(address: string): string | undefined {
  const [, background, font] =
    /^\/assets\/messages-((?:[0-9a-f]{3}){1,2})-((?:[0-9a-f]{3}){1,2})\.css$/.exec(address) ?? [];
  return background && `.message{background:#${background};color:#${font}}`;
}

export interface Assets {
  style: string;
  script: string;
  icon: string;
}

async function editorAsset(address: string): Promise<Asset | undefined> {
  const brotli = await editorFile(address);
  return brotli && { type: types['.js']!, read: () => brotliDecompressSync(brotli), brotli: Promise.resolve(brotli) };
}

/** More than this is not worth the seconds that the best compression takes. */
const small_bytes = 256 * 1024;
const compress = promisify(brotliCompress);

async function compressed({ read }: Asset): Promise<Buffer> {
  const content = await read();
  const quality = content.length > small_bytes ? 6 : constants.BROTLI_MAX_QUALITY;
  return compress(content, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } });
}

/** Reads all assets. @returns their addresses, and the door that serves them */
export function readAssets(): { addresses: Assets; doorway: Doorway } {
  const [style, icon] = ['pages.css', 'icon.svg'].map((file) => assetOf(file, contentOf(file)));
  const loaded = parts.map((file) => [file, assetOf(file, contentOf(file))] as const);
  const code = loaded.reduce(
    (text, [file, [address]]) => text.replaceAll(`'./${file}'`, `'${address}'`),
    contentOf('pages.js').toString(),
  );
  const script = assetOf('pages.js', Buffer.from(code));
  const drawing = [mermaidOf(), assetOf('diagram.js', contentOf('diagram.js'))];
  const frame = frameOf(drawing.map(([address]) => address));
  const byAddress = new Map([style!, icon!, script, frame, ...drawing, ...loaded.map(([, asset]) => asset)]);
  return {
    addresses: { style: style![0], script: script[0], icon: icon![0] },
    doorway: {
      cost: 'usual',
      doors: [
        door({
          method: 'GET',
          url: '/assets/:name',
          handle: async ({ request, reply }) => {
            const address = request.url.split('?', 1)[0]!;
            const asset = byAddress.get(address) ?? (await editorAsset(address));
            const style = asset ? undefined : messageStyleAt(address);
            if (!asset && !style) throw notFound('Asset');
            reply
              .headers({ 'cache-control': 'public, max-age=31536000, immutable', vary: 'Accept-Encoding' })
              .headers(asset?.headers ?? {})
              .type(asset?.type ?? types['.css']!);
            if (!asset) return reply.send(style);
            if (!/\bbr\b/.test(String(request.headers['accept-encoding'] ?? ''))) return reply.send(await asset.read());
            asset.brotli ??= compressed(asset);
            return reply.header('content-encoding', 'br').send(await asset.brotli);
          },
        }),
        door({
          method: 'GET',
          url: '/favicon.ico',
          handle: ({ reply }) => reply.redirect(icon![0]),
        }),
        door({
          method: 'GET',
          url: '/robots.txt',
          handle: ({ reply }) => reply.type('text/plain; charset=utf-8').send(robots),
        }),
      ],
      errors: () => jsonForm,
    },
  };
}

/** Pages that are expensive to render, and useless in a search engine. */
const robots = `User-agent: *
Disallow: /*/-/archive/
Disallow: /*/-/blame
Disallow: /*/-/blob/
Disallow: /*/-/commit/
Disallow: /*/-/commits
Disallow: /*/-/compare/
Disallow: /*/-/find_file/
Disallow: /*/-/graphs/
Disallow: /*/-/network/
Disallow: /*/-/raw/
Disallow: /*/-/tree/
Disallow: /*/-/merge_requests/*/diffs
Disallow: /*/-/merge_requests/*.diff
Disallow: /users/
Disallow: /-/
Disallow: /api/
`;
