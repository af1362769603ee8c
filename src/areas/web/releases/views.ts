/** Views of releases. */
import type { Static } from 'typebox';
import { pageBelow } from '../../../access/index.ts';
import type { Page as ListPage } from '../../../http/index.ts';
import {
  type Content,
  chip,
  facts,
  form,
  type Html,
  html,
  linkTarget,
  pager,
  person,
  rows,
  type Seen,
  sanitised,
  time,
  type View,
} from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import type { Release } from '../../work/releases/index.ts';

type ShownRelease = Static<typeof Release>;

export interface Releases {
  id: string;
  kind: 'project' | 'group';
  releases: ListPage<ShownRelease>;
  mayCreate: boolean;
}

export interface OneRelease {
  id: string;
  /** The external address of the server, without a trailing slash. */
  url: string;
  release: ShownRelease;
  mayEdit: boolean;
}

const upcoming = ({ upcoming_release }: ShownRelease): Content => upcoming_release && chip('upcoming');

/** Callers who may not read the code see no tag, and no link to it. */
function releaseRow(release: ShownRelease, kind: Releases['kind']): Html {
  const { name, tag_name, released_at, author, assets, _links } = release;
  const page = _links?.self && new URL(_links.self).pathname;
  const project = kind === 'group' && page && page.slice(1, page.indexOf('/-/'));
  return html`${project && html`<span class="soft">${project}</span> `}${page ? html`<a class="title" href="${page}">${name}</a>` : name} ${upcoming(release)}
<div class="soft">${tag_name !== undefined && html`Tag ${tag_name}, `}${time(released_at)}, by ${person(author)}${assets && `, ${counted(assets.count, 'asset')}`}</div>`;
}

export function releasesView({ id, kind, releases, mayCreate }: Releases, seen: Seen): View {
  return {
    title: ['Releases', id],
    ...(kind === 'project' ? { feed: pageBelow.project(id, 'releases.atom') } : {}),
    place: { id, kind, tab: 'releases' },
    main: html`${mayCreate && html`<p class="actions"><a class="button primary" href="${`${seen.path}/new`}">New release</a></p>`}
${rows(
  releases.items.map((each) => releaseRow(each, kind)),
  'There are no releases yet.',
)}
${pager(releases, seen)}`,
  };
}

function commitLine({ commit, commit_path }: ShownRelease): Content {
  return commit && commit_path && html`<a href="${commit_path}"><code>${commit.short_id}</code></a> ${commit.title}`;
}

const milestonesOf = ({ milestones = [] }: ShownRelease): Content =>
  milestones.map(
    ({ title, web_url, issue_stats: { closed, total } }) =>
      html`<div><a href="${new URL(web_url).pathname}">${title}</a> <span class="soft">${closed} of ${counted(total, 'issue')} closed</span></div>`,
  );

function assetRows({ release: { assets }, url }: OneRelease): Content[] {
  const links = (assets?.links ?? []).map(
    ({ name, direct_asset_url, link_type }) =>
      html`<a href="${linkTarget(direct_asset_url, url)}" rel="nofollow noopener">${name}</a> ${link_type !== 'other' && html`${chip(link_type)}`}`,
  );
  const sources = (assets?.sources ?? []).map(
    ({ format, url: address }) =>
      html`<a href="${linkTarget(address, url)}" rel="nofollow" download>Source code (${format})</a>`,
  );
  return [...links, ...sources];
}

const evidenceRow =
  (url: string) =>
  ({ filepath, sha, collected_at }: NonNullable<ShownRelease['evidences']>[number]): Html =>
    html`<a href="${linkTarget(filepath, url)}" rel="nofollow">Evidence</a> collected ${time(collected_at)}
<div class="soft">SHA-256 <code>${sha}</code></div>`;

export function releaseView(shown: OneRelease, seen: Seen): View {
  const { id, url, release, mayEdit } = shown;
  const { name, tag_name, tag_path, description_html, evidences = [] } = release;
  return {
    title: [name, 'Releases', id],
    place: { id, kind: 'project', tab: 'releases' },
    main: html`${mayEdit && html`<div class="actions"><a class="button" href="${`${seen.path}/edit`}">Edit</a>${form(seen, 'collect', { button: 'Collect evidence', look: 'plain' })}</div>`}
${facts([
  ['Released', html`${time(release.released_at)} by ${person(release.author)} ${upcoming(release)}`],
  ['Tag', tag_path && html`<a href="${tag_path}">${tag_name}</a>`],
  ['Commit', commitLine(release)],
  ['Milestones', release.milestones && milestonesOf(release)],
])}
<div class="text">${description_html ? sanitised(description_html, 1) : html`<p class="soft">No description.</p>`}</div>
<h2>Assets</h2>
${rows(assetRows(shown), 'There are no assets.')}
${
  evidences.length > 0 &&
  html`<h2>Evidence</h2>
${rows(evidences.map(evidenceRow(url)), '')}`
}`,
  };
}
