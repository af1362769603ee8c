/** Blame: the commit that last changed each line of a file, and what was there before it (docs/reference/repository_pages.md#blame). */
import { commitKind } from '../../../access/index.ts';
import { type PageCall, page, redirect } from '../../../pages/index.ts';
import { CommitDetail, Diff } from '../../code/repository/index.ts';
import { BlameRange } from '../../code/repository_files/index.ts';
import { blamePage } from '../repository/address_rules.ts';
import { coloursOf, filePlaceOf } from '../repository/blob_pages.ts';
import { pageIn } from '../repository/blob_views.ts';
import { hasMoreLines } from '../repository/line_rules.ts';
import { type Blame, blameView, lines_per_page } from './views.ts';

async function load(call: PageCall): Promise<Blame> {
  const shown = await filePlaceOf(call);
  const { place, file } = shown;
  const number = pageIn(call);
  const first = (number - 1) * lines_per_page + 1;
  const { text, is_cut } = file;
  const end = first + lines_per_page - 1;
  const has_more = text !== undefined && hasMoreLines(text, end);
  const rest = { page: number, first, has_more };
  if (text === undefined) return { ...shown, ...rest, groups: 'no text', colours: undefined };
  if (is_cut) return { ...shown, ...rest, groups: 'too large', colours: undefined };
  if (text === '') return { ...shown, ...rest, groups: [], colours: undefined };
  const asked = { file_path: place.path, ref: place.commit.id, range: { start: first, end } };
  const [groups, colours] = await Promise.all([call.all(BlameRange, 'getFileBlame', asked), coloursOf(shown)]);
  return { ...shown, ...rest, groups, colours };
}

const blamePages = page('/:id/-/blame/*ref_path', { is_costly: true, load, view: blameView });

/** The most files of a commit among which a renamed one is looked for. */
const filesLookedAt = 100;

/** The blame of a file before a commit: of its parent, under the name that the file had there. */
const blameBefore = redirect('/:id/-/blame_before/:sha/*file_path', async (call) => {
  const { id = '', sha = '', file_path = '' } = call.params;
  const { parent_ids } = await call.one(CommitDetail, 'getCommit', { sha, stats: false });
  const [parent] = parent_ids;
  if (parent === undefined) return commitKind.page(id, sha);
  const { perhaps, bytes, list } = call;
  if (await perhaps(bytes('getRawFileMetadata', { ref: parent, file_path }))) return blamePage(id, parent, file_path);
  const { items } = await list(Diff, 'listCommitDiffs', { sha, per_page: filesLookedAt });
  const renamed = items.find(({ renamed_file, new_path }) => renamed_file && new_path === file_path);
  return renamed ? blamePage(id, parent, renamed.old_path) : commitKind.page(id, sha);
});

export const blamePageList = [blamePages, blameBefore];
