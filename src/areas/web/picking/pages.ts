/** Cherry-picking and reverting a commit: onto a branch, or onto a new one with a merge request (docs/reference/repository_pages.md#commits). */
import type { Static } from 'typebox';
import { commitKind } from '../../../access/index.ts';
import { ApiError, invalid, type Values } from '../../../http/index.ts';
import { form, html, isTicked, type Page, type PageCall, page, type Seen, textIn } from '../../../pages/index.ts';
import { Branch, type Commit, CommitDetail } from '../../code/repository/index.ts';
import { newMergeRequestAddress } from '../../work/merge_requests/index.ts';

/** What is done with a commit, in the words of its page. */
interface Kind {
  runs: 'cherryPickCommit' | 'revertCommit';
  /** The last part of the address, and the start of the name of a new branch. */
  path: string;
  start: string;
  heading: string;
  intro: string;
  button: string;
}

const kinds: readonly Kind[] = [
  {
    runs: 'cherryPickCommit',
    path: 'cherry_pick',
    start: 'cherry-pick',
    heading: 'Cherry-pick',
    intro: 'The changes of this commit are made on another branch, too.',
    button: 'Cherry-pick the commit',
  },
  {
    runs: 'revertCommit',
    path: 'revert',
    start: 'revert',
    heading: 'Revert',
    intro: 'A new commit takes the changes of this one back.',
    button: 'Revert the commit',
  },
];

interface Shown {
  id: string;
  commit: Static<typeof CommitDetail>;
  branches: readonly Static<typeof Branch>[];
  /** Whether the caller may add commits. */
  may: boolean;
}

/** The most branches that are offered. */
const offered = 100;

async function load(call: PageCall, { runs }: Kind): Promise<Shown> {
  const { id = '', commit_id } = call.params;
  const commit = await call.one(CommitDetail, 'getCommit', { sha: commit_id });
  const [branches, may] = await Promise.all([
    call.list(Branch, 'listBranches', { per_page: offered, sort: 'updated_desc' }),
    call.may(runs, { sha: commit.id }),
  ]);
  return { id, commit, branches: branches.items, may };
}

const newBranchFor = ({ start }: Kind, { short_id }: Pick<Shown['commit'], 'short_id'>): string =>
  `${start}-${short_id}`;

/** Puts the commit onto a new branch, which goes again if that is refused. */
async function onNewBranch(
  call: PageCall,
  { runs }: Kind,
  { sha, branch, ref }: Record<'sha' | 'branch' | 'ref', string>,
) {
  await call.one(Branch, 'createBranch', { branch, ref });
  try {
    await call.described(runs, { sha, branch });
  } catch (error) {
    if (error instanceof ApiError) await call.described('deleteBranch', { branch });
    throw error;
  }
}

/** The reason stands beside the field. @throws ApiError 400 if there is no such branch */
async function checkBranch(call: PageCall, branch: string): Promise<void> {
  try {
    await call.one(Branch, 'getBranch', { branch });
  } catch (error) {
    throw error instanceof ApiError && [400, 404].includes(error.status)
      ? invalid({ branch: ['is not found'] })
      : error;
  }
}

/** @returns the address of the new commit, or of the new merge request */
async function pick(call: PageCall, fields: Values, kind: Kind): Promise<string> {
  const { id = '' } = call.params;
  const { id: sha, short_id } = await call.one(CommitDetail, 'getCommit', { sha: call.params.commit_id });
  const ref = textIn(fields, 'branch');
  if (ref === undefined) throw invalid({ branch: ['is empty'] });
  await checkBranch(call, ref);
  if (isTicked(fields, 'merge_request')) {
    const branch = textIn(fields, 'new_branch') ?? newBranchFor(kind, { short_id });
    await onNewBranch(call, kind, { sha, branch, ref });
    return newMergeRequestAddress(id, { source_branch: branch, target_branch: ref });
  }
  const { reply } = await call.described(kind.runs, { sha, branch: ref });
  return commitKind.page(id, (reply as Static<typeof Commit>).id);
}

function fieldsOf({ commit, branches }: Shown, kind: Kind) {
  const main = branches.find((branch) => branch.default) ?? branches[0];
  // Who may not push to the branch proposes the change.
  const proposes = main?.can_push !== true;
  return [
    {
      name: 'branch',
      label: 'Branch',
      kind: 'select' as const,
      value: main?.name,
      options: branches.map(({ name }) => ({ value: name, label: name })),
    },
    {
      name: 'merge_request',
      label: 'On a new branch, with a merge request',
      kind: 'checkbox' as const,
      value: proposes,
    },
    { name: 'new_branch', label: 'New branch', value: newBranchFor(kind, commit), refused_as: ['branch_name'] },
  ];
}

const pickPage = (kind: Kind): Page<Shown> =>
  page(`/:id/-/commit/:commit_id/${kind.path}`, {
    signed_in: true,
    is_costly: true,
    load: (call) => load(call, kind),
    forms: { pick: { act: (call, fields) => pick(call, fields, kind) } },
    view(shown: Shown, seen: Seen) {
      const { id, commit, may } = shown;
      return {
        title: [`${kind.heading} ${commit.short_id}`, id],
        place: { id, kind: 'project', tab: 'commits' },
        main: html`<p><a href="${commitKind.page(id, commit.id)}">${commit.title || 'No message'}</a></p>
<p class="soft">${kind.intro}</p>
${may ? form(seen, 'pick', { fields: fieldsOf(shown, kind), button: kind.button }) : html`<p>You may not add commits to this project.</p>`}`,
      };
    },
  });

export const pickPages = kinds.map(pickPage);
