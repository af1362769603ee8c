/** Views of branches. */
import type { Static } from 'typebox';
import type { Page as ListPage } from '../../../http/index.ts';
import {
  type Content,
  chip,
  filterForm,
  form,
  html,
  pager,
  rows,
  type Seen,
  time,
  type View,
} from '../../../pages/index.ts';
import { type Branch, comparePage, treePage } from '../../code/repository/index.ts';
import { commitsPage } from './address_rules.ts';

export interface Branches {
  id: string;
  branches: ListPage<Static<typeof Branch>>;
}

type ShownBranch = Branches['branches']['items'][number];

const removal = ({ name }: ShownBranch, seen: Seen): Content =>
  html`<details><summary>Delete<span class="visually-hidden"> ${name}</span></summary>
${form(seen, 'remove', { key: name, fields: [{ name: 'branch', label: '', kind: 'hidden', value: name }], button: `Delete ${name}`, look: 'danger' })}</details>`;

function branchRow(id: string, branch: ShownBranch, main: string | undefined, seen: Seen): Content {
  const { name, commit } = branch;
  return html`<a class="title" href="${treePage(id, name)}" rel="nofollow">${name}</a>
${branch.default && chip('default')} ${branch.protected && chip('protected', 'lock')} ${branch.merged && chip('merged', 'merged')}
<div class="soft">${commit.title}, ${commit.author_name} ${time(commit.committed_date)}</div>
<div class="actions"><a href="${commitsPage(id, name)}" rel="nofollow">History<span class="visually-hidden"> of ${name}</span></a>
${main !== undefined && main !== name && html`<a href="${comparePage(id, `${main}...${name}`)}" rel="nofollow">Compare<span class="visually-hidden"> ${name} with ${main}</span></a>`}
${branch.can_push && !branch.default && seen.may('create') && removal(branch, seen)}</div>`;
}

export function branchesView({ id, branches }: Branches, seen: Seen): View {
  const main = branches.items.find((branch) => branch.default)?.name;
  return {
    title: ['Branches', id],
    place: { id, kind: 'project', tab: 'branches' },
    main: html`${filterForm(seen, [{ name: 'search', label: 'Search branches' }], 'Search')}
${rows(
  branches.items.map((branch) => branchRow(id, branch, main, seen)),
  'There are no branches here.',
)}
${pager(branches, seen)}
${
  branches.items.some(({ merged }) => merged) &&
  seen.may('remove_merged') &&
  html`<details><summary>Delete all merged branches</summary><p>What they hold is in ${main ?? 'the default branch'}. Protected branches stay.</p>${form(seen, 'remove_merged', { button: 'Delete all merged branches', look: 'danger' })}</details>`
}
${
  seen.may('create') &&
  html`<h2>New branch</h2>
${form(seen, 'create', {
  fields: [
    { name: 'branch', label: 'Name', is_required: true },
    { name: 'ref', label: 'From', value: main, is_required: true, help: 'A branch, a tag or a commit' },
  ],
  button: 'Create the branch',
})}`
}`,
  };
}
