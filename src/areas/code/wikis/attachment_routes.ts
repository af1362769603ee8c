/** Files that pages of wikis show or link to (docs/reference/wikis.md#attachments). */
import { Type } from 'typebox';
import { wikiRole } from '../../../access/index.ts';
import { capitalized, File, leftOutIfBlank, one, optional, post, resource } from '../../../http/index.ts';
import { markdownOf } from '../../../markdown/index.ts';
import { fileTexts } from '../repository/index.ts';
import { attach } from './attachment_actions.ts';
import { noBranch } from './commit_actions.ts';
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

const routeOf = (kind: 'project' | 'group') => {
  const Noun = capitalized(kind);
  return post(`/${kind}s/:id/wikis/attachments`, {
    operation: `create${Noun}WikiAttachment`,
    summary: `Attach a file to the wiki of a ${kind}`,
    description: 'The file has at most as many MiB as the application setting `max_attachment_size` says.',
    access: wikiRole(kind, 'developer'),
    ...(kind === 'group' ? { plan: planOfGroups } : {}),
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
  });
};

export const wikiAttachmentRoutes = [routeOf('project'), routeOf('group')];
