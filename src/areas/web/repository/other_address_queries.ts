/** Other forms of the addresses of a project. */
import { inAddress } from '../../../foundation/addresses.ts';
import { type PageCall, withQuery } from '../../../pages/index.ts';
import { blobPage, TreeObject, treePage } from '../../code/repository/index.ts';
import { joined } from './address_rules.ts';
import { refPathOf } from './ref_queries.ts';

/** What stood directly behind the path of a project before addresses had `/-/`. */
const olderForm =
  /^(\/[^/]+\/.*?)(\/(?:issues|merge_requests|blob|tree|raw|archive|commits?|compare|branches|tags|wikis|snippets|milestones|badges)(?:\/.*)?)$/;

/**
 * Where an address leads that no page shows: a folder below `blob`, a file below `tree`, and what has no `/-/`.
 * @returns undefined if it leads nowhere, or to something hidden from the caller
 */
export async function otherAddress(call: PageCall): Promise<string | undefined> {
  if (/\/-\/(tree|blob)\//.test(call.path)) return otherKind(call);
  const [, project, rest] = call.path.includes('/-/') ? [] : (olderForm.exec(call.path) ?? []);
  if (project === undefined) return undefined;
  const id = project.slice(1).split('/').map(decodeURIComponent).join('/');
  const isProject = await call.may('getProject', { id });
  return isProject ? withQuery({ path: `/${inAddress(id)}/-${rest}`, query: call.query }, {}) : undefined;
}

/** The page of a file in place of that of a folder, and the other way round. */
async function otherKind(call: PageCall): Promise<string | undefined> {
  const place = await call.perhaps(refPathOf(call));
  if (!place || place.path === '') return undefined;
  const { id, ref, path, commit } = place;
  const at = { ref: commit.id, path, per_page: 1 };
  if (await call.perhaps(call.list(TreeObject, 'listRepositoryTree', at))) return treePage(id, joined(ref, path));
  const file = await call.perhaps(call.bytes('getRawFileMetadata', { ref: commit.id, file_path: path }));
  return file && blobPage(id, ref, path);
}
