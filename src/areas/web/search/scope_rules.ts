/** The kinds of search results, and their views. */
import { issueKind, mergeRequestKind } from '../../../access/index.ts';
import { pagePath, slugInAddress } from '../../../foundation/addresses.ts';
import type { Values } from '../../../http/index.ts';
import { type Content, html, person, state, time } from '../../../pages/index.ts';
import { blobPage } from '../../code/repository/index.ts';
import type { ProjectPaths } from '../house/path_queries.ts';
import { pathOf } from '../issuables/present.ts';

export type Level = 'global' | 'group' | 'project';

export interface ShownScope {
  name: string;
  label: string;
  levels: readonly Level[];
  /** Whether it is searched in repositories, so that counting what is found would take as long as the search. */
  in_repositories?: true;
  line(item: Values, paths: ProjectPaths): Content;
}

const everywhere: readonly Level[] = ['global', 'group', 'project'];
const wikiPage = pagePath('/:project/-/wikis');

type Author = { username: string; name: string } | null;

const linkTo = (path: string | undefined, text: unknown): Content =>
  path === undefined ? String(text) : html`<a class="title" href="${path}">${String(text)}</a>`;

const issuable = ({ title, web_url, references, state: word, author, created_at }: Values): Content =>
  html`${linkTo(pathOf(String(web_url)), title)} ${state(String(word))}
<div class="soft">${(references as { full: string }).full} opened ${time(String(created_at))} by ${person(author as Author)}</div>`;

const titled = ({ title, name, web_url, description }: Values): Content =>
  html`${linkTo(pathOf(String(web_url)), title ?? name)}
<div class="soft">${typeof description === 'string' && description.slice(0, 300)}</div>`;

const pagesOfNotes: Record<string, typeof issueKind.page> = {
  Issue: issueKind.page,
  MergeRequest: mergeRequestKind.page,
};

function note({ id, body, author, created_at, noteable_type, noteable_iid, project_id }: Values, paths: ProjectPaths) {
  const [project, page] = [paths.get(project_id), pagesOfNotes[String(noteable_type)]];
  const path = project && page && `${page(project, Number(noteable_iid))}#note_${id}`;
  return html`${linkTo(path, String(body).slice(0, 300))}
<div class="soft">By ${person(author as Author)} ${time(String(created_at))}</div>`;
}

function commit({ web_url, title, short_id, author_name, committed_date, project_id }: Values, paths: ProjectPaths) {
  return html`${linkTo(pathOf(String(web_url)), title)} <span class="soft">${paths.get(project_id)}</span>
<div class="soft"><code>${String(short_id)}</code> by ${String(author_name)}, ${time(String(committed_date))}</div>`;
}

/** A file, with a link to the first matching line. */
const file = (pageOf: (project: string, item: Values) => string) => (item: Values, paths: ProjectPaths) => {
  const project = paths.get(item.project_id);
  return html`${linkTo(project && pageOf(project, item), item.path)} <span class="soft">${project}</span>
<pre>${String(item.data)}</pre>`;
};

const code = file((project, { ref, path, match_lines }) => {
  const [line] = match_lines as number[];
  return `${blobPage(project, String(ref), String(path))}${line === undefined ? '' : `#L${line}`}`;
});
const wiki = file((project, { path }) => `${wikiPage(project)}/${slugInAddress(String(path).replace(/\.\w+$/, ''))}`);

export const scopes: readonly ShownScope[] = [
  { name: 'projects', label: 'Projects', levels: ['global', 'group'], line: titled },
  { name: 'issues', label: 'Issues', levels: everywhere, line: issuable },
  { name: 'merge_requests', label: 'Merge requests', levels: everywhere, line: issuable },
  { name: 'blobs', in_repositories: true, label: 'Code', levels: everywhere, line: code },
  { name: 'commits', in_repositories: true, label: 'Commits', levels: everywhere, line: commit },
  { name: 'notes', label: 'Comments', levels: everywhere, line: note },
  { name: 'wiki_blobs', in_repositories: true, label: 'Wikis', levels: everywhere, line: wiki },
  { name: 'milestones', label: 'Milestones', levels: everywhere, line: titled },
  { name: 'epics', label: 'Epics', levels: ['global', 'group'], line: issuable },
  { name: 'users', label: 'Users', levels: everywhere, line: titled },
  { name: 'snippet_titles', label: 'Snippets', levels: ['global'], line: titled },
];
