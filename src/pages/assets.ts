/** The style sheet and the script of pages. Their addresses change with their content, so browsers keep them for a year. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { installedFile } from '../foundation/installation.ts';
import { type Doorway, door, jsonForm, notFound } from '../http/index.ts';
import { editorFile } from './editor_assets.ts';

interface Asset {
  type: string;
  /** Undefined if only the compressed content is kept. */
  content?: Buffer;
  /** The compressed content, once requested. */
  brotli?: Buffer;
}

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Reads a file of `assets/`. @returns its address and its content */
function assetOf(file: string): [address: string, asset: Asset] {
  const content = readFileSync(path.join(installedFile('assets'), file));
  const { name, ext } = path.parse(file);
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 12);
  return [`/assets/${name}-${digest}${ext}`, { type: types[ext]!, content }];
}

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
  return brotli && { type: types['.js']!, brotli };
}

/** Reads all assets. @returns their addresses, and the door that serves them */
export function readAssets(): { addresses: Assets; doorway: Doorway } {
  const files = ['pages.css', 'pages.js', 'icon.svg'].map(assetOf);
  const [style, script, icon] = files.map(([address]) => address);
  const byAddress = new Map(files);
  return {
    addresses: { style: style!, script: script!, icon: icon! },
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
              .type(asset?.type ?? types['.css']!);
            if (!asset) return reply.send(style);
            if (!/\bbr\b/.test(String(request.headers['accept-encoding'] ?? '')))
              return reply.send(asset.content ?? brotliDecompressSync(asset.brotli!));
            asset.brotli ??= brotliCompressSync(asset.content!);
            return reply.header('content-encoding', 'br').send(asset.brotli);
          },
        }),
        door({
          method: 'GET',
          url: '/favicon.ico',
          handle: ({ reply }) => reply.redirect(icon!),
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
Disallow: /*/-/blame/
Disallow: /*/-/blob/
Disallow: /*/-/commit/
Disallow: /*/-/commits
Disallow: /*/-/compare/
Disallow: /*/-/raw/
Disallow: /*/-/tree/
Disallow: /*/-/merge_requests/*/diffs
Disallow: /*/-/merge_requests/*.diff
Disallow: /users/
Disallow: /-/
Disallow: /api/
`;
