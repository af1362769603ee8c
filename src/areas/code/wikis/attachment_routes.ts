/** Files that pages of wikis show or link to (docs/reference/wikis.md#attachments). */
import { Type } from 'typebox';
import { wikiReader, wikiRole } from '../../../access/index.ts';
import { entryAt } from '../../../git/index.ts';
import {
  bytes,
  capitalized,
  File,
  found,
  get,
  leftOutIfBlank,
  one,
  optional,
  post,
  resource,
} from '../../../http/index.ts';
import { markdownOf } from '../../../markdown/index.ts';
import { fileTexts } from '../repository/push_checks/refusal_rules.ts';
import { blobBytes } from '../repository/trees/blob_present.ts';
import { contentTypes } from '../repository/trees/content_rules.ts';
import { attach } from './attachment_actions.ts';
import { noBranch } from './commit_actions.ts';
import { versionIn } from './git.ts';
import { planOfGroups } from './kind.ts';

const WikiAttachment = resource('WikiAttachment', {
  file_name: Type.String(),
  file_path: Type.String({ description: 'In the repository of the wiki' }),
  branch: Type.String(),
  link: Type.Object({
    url: Type.String({ description: 'For pages of the same wiki' }),
    markdown: Type.String({ description: 'The link, or what shows the image, video or audio' }),
  }),
});

const routesOf = (kind: 'project' | 'group') => {
  const Noun = capitalized(kind);
  const plan = kind === 'group' ? ({ plan: planOfGroups } as const) : {};
  const attachments = `/${kind}s/:id/wikis/attachments`;
  return [
    post(attachments, {
      operation: `create${Noun}WikiAttachment`,
      summary: `Attach a file to the wiki of a ${kind}`,
      description: 'The file has at most as many MiB as the application setting `max_attachment_size` says.',
      access: wikiRole(kind, 'developer'),
      ...plan,
      input: {
        file: File('wiki_attachments', 'max_attachment_size'),
        branch: leftOutIfBlank(optional(Type.String({ description: 'By default the default branch of the wiki' }))),
      },
      returns: one(WikiAttachment),
      refusals: { 400: [noBranch, ...fileTexts], 404: `404 ${Noun} Not Found` },
      handle: async ({ caller, place, input, ...services }) => {
        const attached = await attach(services, { caller, place }, input.file, input.branch);
        const { markdown } = markdownOf(attached.file_name, attached.file_path);
        return { ...attached, link: { url: attached.file_path, markdown } };
      },
    }),
    get(`${attachments}/:file_path`, {
      operation: `get${Noun}WikiFile`,
      summary: `Get a file of the repository of the wiki of a ${kind}`,
      access: wikiReader(kind),
      ...plan,
      input: { file_path: Type.String({ description: 'URL-encoded path, such as the `file_path` of an attachment' }) },
      returns: bytes(contentTypes),
      refusals: { 404: `404 File Not Found` },
      handle: async ({ place, input: { file_path }, ...services }) => {
        const { repository, commit_id } = found('File', await versionIn(services, place));
        const entry = await entryAt(repository, commit_id, file_path);
        const { id } = found('File', entry?.type === 'blob' ? entry : undefined);
        return blobBytes(repository, { id, name: file_path.slice(file_path.lastIndexOf('/') + 1) });
      },
    }),
  ];
};

export const wikiAttachmentRoutes = [...routesOf('project'), ...routesOf('group')];
