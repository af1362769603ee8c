/** The API documentation for people (`/docs`) and programs (`/api/v4/openapi.json`), without external assets. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import { type Doorway, door } from './door.ts';
import type { Caller } from './endpoint.ts';
import { jsonForm } from './error_replies.ts';
import { apiRoot } from './mount.ts';
import { type Documented, openApiDocument } from './openapi.ts';
import { originFor } from './origin.ts';

/** The folder of the assets. Importing the package's own module would load the whole page into the server. */
const assets = path.dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));

const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Coppice API</title><link rel="stylesheet" href="/docs/assets/swagger-ui.css"></head>
<body><div id="api"></div><script src="/docs/assets/swagger-ui-bundle.js"></script><script src="/docs/start.js"></script></body>
</html>`;
const script = `SwaggerUIBundle({ url: '${apiRoot}/openapi.json', dom_id: '#api', docExpansion: 'none' });`;
const policy = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:";

/** The content security policy of the page: it executes no other file of this server, such as one that a user uploaded. */
const pagePolicy = (origin: string) =>
  `${policy}; script-src ${origin}/docs/; object-src 'none'; base-uri 'none'; frame-ancestors 'none'`;

/**
 * The page, its assets and the document.
 * @param external_url the external address of the server
 */
export function documentation(documented: Documented, external_url: string): Doorway {
  let document: Buffer | undefined;
  return {
    cost: 'usual',
    doors: [
      door({
        method: 'GET',
        url: `${apiRoot}/openapi.json`,
        is_text: true,
        handle: ({ reply }) => {
          document ??= Buffer.from(JSON.stringify(openApiDocument(documented)));
          return reply.header('content-type', 'application/json').send(document);
        },
      }),
      door({
        method: 'GET',
        url: '/docs',
        handle: ({ request, reply }) =>
          reply
            .header('content-security-policy', pagePolicy(originFor(request, external_url)))
            .type('text/html')
            .send(page),
      }),
      door({ method: 'GET', url: '/docs/start.js', handle: ({ reply }) => reply.type('text/javascript').send(script) }),
      // The images among them are served unchanged.
      door<Caller, { Params: { '*': string } }>({
        method: 'GET',
        url: '/docs/assets/*',
        is_text: true,
        handle: ({ request, reply }) => reply.sendFile(request.params['*']),
      }),
    ],
    errors: () => jsonForm,
    prepare: async (app) => {
      await app.register(fastifyStatic, {
        root: assets,
        serve: false,
        index: false,
        // A range of a file would be compressed separately.
        acceptRanges: false,
        setHeaders: (reply) => {
          reply.header('content-security-policy', policy);
        },
      });
    },
  };
}
