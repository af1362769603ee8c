/** Alternative forms of the addresses of a project. */
import { inAddress } from '../../../foundation/addresses.ts';
import { type PageCall, withQuery } from '../../../pages/index.ts';
import { blobPage, TreeObject, treePage } from '../../code/repository/index.ts';
import { joined } from './address_rules.ts';
import { refPathOf } from './ref_queries.ts';

/** The words that followed the path of a project directly before addresses had `/-/`. */
const olderForm =
  /^(\/[^/]+\/.*?)(\/(?:issues|merge_requests|blob|tree|raw|archive|commits?|compare|branches|tags|wikis|snippets|milestones|badges)(?:\/.*)?)$/;

/**
 * The redirect target of an address without a page: a folder below `blob`, a file below `tree`, or an address without
 * `/-/`.
 * @returns undefined if there is no target, or it is hidden from the caller
 */
export async function otherAddress(call: PageCall): Promise<string | undefined> {
  if (/\/-\/(tree|blob)\//.test(call.path)) return otherKind(call);
  const [, project, rest] = call.path.includes('/-/') ? [] : (olderForm.exec(call.path) ?? []);
  if (project === undefined) return undefined;
  const id = project.slice(1).split('/').map(decodeURIComponent).join('/');
  const isProject = await call.may('getProject', { id });
  return isProject ? withQuery({ path: `/${inAddress(id)}/-${rest}`, query: call.query }, {}) : undefined;
}

/** The page of a file instead of a folder, and vice versa. */
async function otherKind(call: PageCall): Promise<string | undefined> {
  const place = await call.perhaps(refPathOf(call));
  if (!place || place.path === '') return undefined;
  const { id, ref, path, commit } = place;
  const at = { ref: commit.id, path, per_page: 1 };
  if (await call.perhaps(call.list(TreeObject, 'listRepositoryTree', at))) return treePage(id, joined(ref, path));
  const file = await call.perhaps(call.bytes('getRawFileMetadata', { ref: commit.id, file_path: path }));
  return file && blobPage(id, ref, path);
}
