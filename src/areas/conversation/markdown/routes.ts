/** Rendering Markdown to HTML, for clients that show texts. */
import { Type } from 'typebox';
import { signedIn, uploadsPath, visibleProject } from '../../../access/index.ts';
import { longText, one, optional, post, resource } from '../../../http/index.ts';
import { toHtml } from '../../../markdown/index.ts';
import { linksFor } from './queries.ts';

const Rendering = resource('Rendering', {
  html: Type.String({ description: 'Sanitized HTML' }),
});

export const markdownRoutes = [
  post('/markdown', {
    operation: 'renderMarkdown',
    summary: 'Render Markdown as HTML',
    access: signedIn,
    input: {
      text: longText(Type.String({ maxLength: 1_048_576 })),
      gfm: Type.Boolean({ default: false, description: 'Whether references such as `#1` become links' }),
      project: optional(
        Type.String({ description: 'ID or full path of the project that short references and uploads belong to' }),
      ),
    },
    returns: one(Rendering),
    refusals: { 404: '404 Project Not Found' },
    handle: async ({ db, caller, url, input }) => {
      const context = input.project === undefined ? undefined : await visibleProject(db, caller, input.project);
      const linkOf = input.gfm ? await linksFor({ db, caller, url }, input.text, context) : undefined;
      const uploads = context && uploadsPath('project', context.id);
      return { html: await toHtml(input.text, { linkOf, uploads }) };
    },
  }),
];
