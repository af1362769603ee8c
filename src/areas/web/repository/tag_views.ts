/** Views of tags. */
import type { Static } from 'typebox';
import { commitKind, pageBelow } from '../../../access/index.ts';
import type { Page as ListPage } from '../../../http/index.ts';
import {
  type Content,
  chip,
  facts,
  filterForm,
  form,
  type Html,
  html,
  pager,
  rows,
  type Seen,
  time,
  type View,
} from '../../../pages/index.ts';
import { archivePage, type Tag, treePage } from '../../code/repository/index.ts';
import { commitsPage, tagPage } from './address_rules.ts';

export interface Tags {
  id: string;
  tags: ListPage<Static<typeof Tag>>;
}

export interface ShownTag {
  id: string;
  tag: Static<typeof Tag>;
  /** Whether the caller may write to the repository. */
  may_write: boolean;
}

const commitLine = (id: string, { commit, target }: ShownTag['tag']): Html =>
  commit
    ? html`<a href="${commitKind.page(id, commit.id)}" rel="nofollow"><code>${commit.short_id}</code></a> ${commit.title}, ${commit.author_name} ${time(commit.committed_date)}`
    : html`Object <code>${target}</code>`;

const archives = (id: string, name: string): Content =>
  (['zip', 'tar.gz'] as const).map(
    (format) =>
      html`<a href="${archivePage(id, name, `${id.slice(id.lastIndexOf('/') + 1)}-${name.replaceAll('/', '-')}.${format}`)}" rel="nofollow" download>${format}<span class="visually-hidden"> archive of ${name}</span></a> `,
  );

export function tagsView({ id, tags }: Tags, seen: Seen): View {
  return {
    title: ['Tags', id],
    feed: pageBelow.project(id, 'tags.atom'),
    place: { id, kind: 'project', tab: 'tags' },
    main: html`${filterForm(seen, [{ name: 'search', label: 'Search tags' }], 'Search')}
${rows(
  tags.items.map(
    (
      tag,
    ) => html`<a class="title" href="${tagPage(id, tag.name)}">${tag.name}</a> ${tag.protected && chip('protected', 'lock')}
<div class="soft">${commitLine(id, tag)}</div>
<div class="actions">${tag.commit && archives(id, tag.name)}</div>`,
  ),
  'There are no tags here.',
)}
${pager(tags, seen)}
${
  seen.may('create') &&
  html`<h2>New tag</h2>
${form(seen, 'create', {
  fields: [
    { name: 'tag_name', label: 'Name', is_required: true },
    { name: 'ref', label: 'Of', is_required: true, help: 'A branch, a tag or a commit' },
    { name: 'message', label: 'Message', kind: 'area', help: 'With a message, it is an annotated tag' },
  ],
  button: 'Create the tag',
})}`
}`,
  };
}

export function tagView({ id, tag, may_write }: ShownTag, seen: Seen): View {
  return {
    title: [tag.name, 'Tags', id],
    place: { id, kind: 'project', tab: 'tags' },
    main: html`${tag.message && html`<pre class="message">${tag.message}</pre>`}
${facts([
  ['Commit', commitLine(id, tag)],
  ['Created', time(tag.created_at)],
  ['Protected', tag.protected && 'Yes'],
  ['Download', tag.commit && archives(id, tag.name)],
])}
${tag.commit && html`<p class="actions"><a href="${treePage(id, tag.name)}">Files</a> <a href="${commitsPage(id, tag.name)}">History</a></p>`}
${
  may_write &&
  html`<details><summary>Delete the tag</summary>${form(seen, 'remove', { button: `Delete ${tag.name}`, look: 'danger' })}</details>`
}`,
  };
}
