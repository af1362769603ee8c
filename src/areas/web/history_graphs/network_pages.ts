/** The commits of all branches as a picture of their descent. */
import type { Static } from 'typebox';
import { commitKind } from '../../../access/index.ts';
import type { Page as ListPage } from '../../../http/index.ts';
import {
  type Content,
  chip,
  html,
  isTicked,
  page,
  pager,
  pagingOf,
  type Seen,
  sanitised,
  time,
  type View,
  withQuery,
} from '../../../pages/index.ts';
import { Branch, ListedCommit, Tag } from '../../code/repository/index.ts';
import { type RefPath, refNames, refPathOf } from '../repository/ref_queries.ts';
import { refSwitch, type ShownRefs } from '../repository/ref_views.ts';
import { lanesOf, type Placed } from './lane_rules.ts';

interface Network {
  place: RefPath;
  refs: ShownRefs;
  commits: ListPage<Static<typeof ListedCommit>>;
  /** The names of branches and tags by the commits that they point to. */
  names: ReadonlyMap<string, readonly string[]>;
  is_all: boolean;
}

const commitsOnPage = 100;
const mostLanes = 12;
/** The width of a lane and the height of a row, in the units of the picture. */
const [lane_units, row_units] = [14, 32];

const xOf = (lane: number) => 10 + lane * lane_units;
const yOf = (row: number) => row * row_units + row_units / 2;

/** The line from a commit to a parent: it turns to the lane of the line in one row, and to that of the parent in the last. */
function pathOf(row: number, lane: number, to: Placed['lines'][number]): string {
  const [x, y, via, end] = [xOf(lane), yOf(row), xOf(to.via), yOf(to.row)];
  const turn = Math.min(y + row_units, end);
  const last = Math.max(turn, end - row_units);
  const bend = (fromX: number, fromY: number, toX: number, toY: number) =>
    `C${fromX} ${(fromY + toY) / 2} ${toX} ${(fromY + toY) / 2} ${toX} ${toY}`;
  return `M${x} ${y}${bend(x, y, via, turn)}L${via} ${last}${bend(via, last, xOf(to.lane), end)}`;
}

/** The picture beside the rows, made of numbers alone. */
function picture(commits: Network['commits']['items']): Content {
  const { placed, lanes } = lanesOf(commits, mostLanes);
  const [width, height] = [xOf(lanes), commits.length * row_units];
  const lines = placed.flatMap(({ lane, lines }, row) =>
    lines.map((to) => `<path class="lane${to.via % 6}" d="${pathOf(row, lane, to)}"/>`),
  );
  const dots = placed.map(
    ({ lane }, row) => `<circle class="lane${lane % 6}" cx="${xOf(lane)}" cy="${yOf(row)}" r="4"/>`,
  );
  return sanitised(
    `<svg class="network" aria-hidden="true" viewBox="0 0 ${width} ${height}" width="${width / 16}rem" height="${height / 16}rem">${lines.join('')}${dots.join('')}</svg>`,
  );
}

function view({ place, refs, commits, names, is_all }: Network, seen: Seen): View {
  const { id, ref } = place;
  const { items } = commits;
  return {
    title: ['Network', ref, id],
    place: { id, kind: 'project', tab: 'commits' },
    main: html`<div class="bar">${refSwitch(place, 'network', refs, seen)}<span class="grow"></span><a class="button" href="${withQuery(seen, { all: is_all ? undefined : 'true', page: undefined })}" rel="nofollow">${is_all ? `Only ${ref}` : 'All branches'}</a></div>
${
  items.length === 0
    ? html`<p class="soft">There are no commits here.</p>`
    : html`<div class="networks">${picture(items)}<ol>${items.map(
        (commit) =>
          html`<li><a href="${commitKind.page(id, commit.id)}" rel="nofollow">${commit.title || 'No message'}</a> ${names
            .get(commit.id)
            ?.map((name) =>
              chip(name),
            )} <span class="soft">${commit.author_name} ${time(commit.committed_date)}</span></li>`,
      )}</ol></div>`
}
${pager(commits, seen)}`,
  };
}

/** The names of the last branches and tags that point to commits. */
async function namesOf({ list, perhaps }: Parameters<typeof refPathOf>[0]): Promise<Network['names']> {
  const [branches, tags] = await Promise.all([
    perhaps(list(Branch, 'listBranches', { per_page: 100, sort: 'updated_desc' })),
    perhaps(list(Tag, 'listTags', { per_page: 100 })),
  ]);
  const refs = [...(branches?.items ?? []), ...(tags?.items ?? [])];
  const byCommit = Map.groupBy(refs, ({ commit }) => commit?.id ?? '');
  return new Map([...byCommit].map(([id, those]) => [id, those.map(({ name }) => name)]));
}

export const networkPages = page('/:id/-/network/*ref_path', {
  is_costly: true,
  async load(call): Promise<Network> {
    const place = await refPathOf(call);
    const is_all = isTicked(call.query, 'all');
    const [refs, commits, names] = await Promise.all([
      refNames(call),
      call.list(ListedCommit, 'listCommits', {
        ...(is_all ? { all: true } : { ref_name: place.commit.id }),
        order: 'topo',
        per_page: commitsOnPage,
        ...pagingOf(call),
      }),
      namesOf(call),
    ]);
    return { place, refs, commits, names, is_all };
  },
  view,
});
