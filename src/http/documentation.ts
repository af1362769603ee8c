/** The description of the API for programs. */
import { type Doorway, door } from './door.ts';
import { jsonForm } from './error_replies.ts';
import { apiRoot } from './mount.ts';
import { type Documented, openApiDocument } from './openapi.ts';

/** The OpenAPI document (`/api/v4/openapi.json`), which is generated when it is asked for first. */
export function documentation(documented: Documented): Doorway {
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
    ],
    errors: () => jsonForm,
  };
}
