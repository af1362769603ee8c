/** Attaches files to wikis (docs/reference/wikis.md#attachments). */
import { randomBytes } from 'node:crypto';
import type { Services, UploadedFile } from '../../../http/index.ts';
import { storedName } from '../../../markdown/index.ts';
import { bytesOf } from '../../instance/blobs/index.ts';
import { type Changing, commitToWiki } from './commit_actions.ts';
import { openWiki } from './creation_actions.ts';
import { wikiRepositories } from './kind.ts';
import { attachmentPath } from './rules.ts';

/**
 * Commits a file that pages can show or link to.
 * @param branch defaults to the branch of the pages
 * @returns its location
 */
export async function attach(
  services: Services,
  changing: Changing,
  file: UploadedFile,
  branch?: string,
): Promise<{ file_name: string; file_path: string; branch: string }> {
  const content = await bytesOf(services, file);
  const file_name = storedName(file.name);
  const file_path = attachmentPath(randomBytes(16).toString('hex'), file_name);
  const wiki = await openWiki(services, wikiRepositories, changing.place);
  const target = branch ?? wiki.default_branch;
  const message = `Upload attachment ${file_name}`;
  await commitToWiki(services, { ...changing, wiki }, target, async () => ({
    message,
    actions: [{ action: 'create', file_path, content }],
  }));
  return { file_name, file_path, branch: target };
}
