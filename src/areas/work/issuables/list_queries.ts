/** Reading lists of issues: first the ids of a page, from indexes as far as they go, then what replies say of these alone. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { MaybeCaller } from '../../../access/index.ts';
import { type Database, plannedAnew } from '../../../db/index.ts';
import { type Page, type Paging, type Plan, pageAsked, reaches, type Services, totalOf } from '../../../http/index.ts';
import { type Filter, issueFilters, namesIn } from '../issues/filters.ts';
import type { IssueFilters } from '../issues/list_parameters.ts';
import { type Part, partsOf } from '../issues/order_rules.ts';
import { type IssueReply, presentIssues } from '../issues/present.ts';
import { type Place, type View, viewOf } from '../issues/view_queries.ts';
import { namesFor } from './name_queries.ts';

export interface Listing {
  caller: MaybeCaller;
  place: Place;
  /** The plan in force. */
  plan: Plan;
  filters: IssueFilters;
  /** A predicate on rows of `issues` besides the filters, such as that they have one milestone. */
  only?: RawBuilder<SqlBool>;
}

/** Which issues a list is of, as predicates. */
interface Selection {
  view: View;
  filters: readonly Filter[];
}

/** Below this many rows it is quicker to take the first of each project than to look through all projects at once. */
const mostOfProjects = 20_000;

async function selectionOf(db: Database, { caller, place, plan, filters, only }: Listing): Promise<Selection> {
  const project_id = 'project' in place ? place.project.id : undefined;
  const names = await namesFor(db, namesIn(filters), { project_id, wildcards: reaches(plan, 'premium') });
  const view = await viewOf(db, caller, place, filters.non_archived ?? false);
  const narrowed = issueFilters(filters, { caller, names, plan, now: new Date(), project_id });
  return { view, filters: only ? [{ where: only, isNarrow: true }, ...narrowed] : narrowed };
}

const all = (predicates: readonly RawBuilder<SqlBool>[]) => sql<SqlBool>`${sql.join(predicates, sql` and `)}`;

/** All predicates but that of the project. */
const within = ({ view, filters }: Selection) => [view.where, ...filters.map(({ where }) => where)];

function ofProjects({ view: { project_ids }, filters }: Selection): RawBuilder<SqlBool> {
  if (!project_ids) return sql`true`;
  if (project_ids.length === 1) return sql`issues.project_id = ${project_ids[0]}`;
  // The index for searching would put together the issues of all the projects, for nothing: what is found is asked for its project instead.
  const project = filters.some(({ isSearch }) => isSearch) ? sql`(issues.project_id + 0)` : sql`issues.project_id`;
  return sql`${project} = any(${project_ids}::bigint[])`;
}

const keysOf = ({ by }: Part) => by.map((_, index) => `key${index}`);

/** @param named whether the columns have been selected under the names of `keysOf` */
function orderOf(part: Part, named: boolean) {
  const keys = part.by.map(({ column, sort, nullsLast }, index) => {
    const key = named ? sql.ref(`key${index}`) : column;
    return sql`${key} ${sql.raw(sort)}${nullsLast ? sql` nulls last` : sql``}`;
  });
  return sql`order by ${sql.join([...keys, sql`${named ? sql.ref('id') : sql.ref('issues.id')} desc`])}`;
}

/** The first ids of a part. */
function firstOfPart(part: Part, selection: Selection, count: number): RawBuilder<unknown> {
  const { view, filters } = selection;
  const { project_ids } = view;
  const tests = [...within(selection), ...(part.where ? [part.where] : [])];
  const isLoose = filters.every(({ isNarrow }) => !isNarrow);
  if (project_ids && project_ids.length > 1 && isLoose && project_ids.length * count <= mostOfProjects) {
    const keys = part.by.map(({ column }, index) => sql`${column} as ${sql.ref(keysOf(part)[index]!)}`);
    return sql`select id from (
      select first.* from unnest(${project_ids}::bigint[]) place(id), lateral (
        select ${sql.join([sql.ref('issues.id'), ...keys])} from issues where issues.project_id = place.id and ${all(tests)}
         ${orderOf(part, false)} limit ${sql.lit(count)}) first) firsts ${orderOf(part, true)} limit ${sql.lit(count)}`;
  }
  return sql`select issues.id from issues where ${all([ofProjects(selection), ...tests])} ${orderOf(part, false)} limit ${sql.lit(count)}`;
}

interface Found {
  ids: number[];
  /** How many there are in the whole list, where that became known. */
  total?: number;
}

/** So many rows are looked up and sorted before the reader notices. */
const mostGathered = 2000;
/** Where looking costs more than sorting, as many as are counted. */
const mostSearched = 10_001;

/** Whether the issues of one of the filters are few; asked before any is looked up. Where that cannot be told beforehand it is tried. */
function isShort(filters: readonly Filter[], most: number): RawBuilder<SqlBool> {
  const narrow = filters.filter(({ isNarrow }) => isNarrow);
  if (narrow.some(({ ids }) => !ids)) return sql`true`;
  const tests = narrow.map(
    ({ ids }) => sql`(select count(*) from (${ids} limit ${sql.lit(most + 1)}) first) <= ${sql.lit(most)}`,
  );
  return sql`(${sql.join(tests, sql` or `)})`;
}

/** The ids of a page of a short list: all of it is looked up, and so is counted, too. Undefined where it turns out to be long. */
async function gathered(
  db: Database,
  selection: Selection,
  parts: readonly Part[],
  offset: number,
  limit: number,
): Promise<Found | undefined> {
  const { filters } = selection;
  const most = filters.some(({ isSearch }) => isSearch) ? mostSearched : mostGathered;
  const keys = parts.flatMap(({ by }) => by).map((key, index) => ({ ...key, name: sql.ref(`key${index}`) }));
  const columns = [
    sql.ref('issues.id'),
    ...keys.map(({ column, name }) => sql`${column} as ${name}`),
    sql`${placeOf(parts)} as part`,
  ];
  const order = keys.map(({ name, sort, nullsLast }) => sql`${name} ${sql.raw(sort)}${nullsLast ? sql` nulls last` : sql``}`);
  const tests = [sql<SqlBool>`(select is_short from bound)`, ofProjects(selection), ...within(selection)];
  const { rows } = await sql<Required<Found> & { is_short: boolean }>`${plannedAnew}
    with bound as materialized (select ${isShort(filters, most)} as is_short),
         matching as materialized (select ${sql.join(columns)} from issues where ${all(tests)} limit ${sql.lit(most + 1)})
    select (select is_short from bound) as is_short, (select count(*) from matching) as total,
           array(select id from matching order by ${sql.join([sql`part`, ...order, sql`id desc`])} limit ${sql.lit(limit)} offset ${sql.lit(offset)}) as ids`.execute(
    db,
  );
  const { is_short, ids, total } = rows[0]!;
  return is_short && total <= most ? { ids, total } : undefined;
}

/** The number of the part that an issue is in. What a part is sorted by is the same for all issues of those behind it. */
function placeOf(parts: readonly Part[]) {
  const cases = parts.flatMap(({ where }, index) => (where ? sql`when ${where} then ${sql.lit(index)}` : []));
  return cases.length > 0 ? sql`case ${sql.join(cases, sql` `)} end` : sql`0`;
}

/** One more than the pages that most clients ask for. */
const usualLimits = new Set([21, 51, 101]);

/** The ids of a page of a list of any length. The parts are read one after the other, and none that begins behind the page. */
async function walked(db: Database, selection: Selection, parts: readonly Part[], offset: number, limit: number): Promise<Found> {
  const end = offset + limit;
  const firsts = parts.map((part) => sql`(${firstOfPart(part, selection, end)})`);
  // A plain list of a project is asked for again and again, by pages of a few sizes.
  const isPlain =
    selection.filters.length === 0 && selection.view.project_ids?.length === 1 && offset === 0 && usualLimits.has(limit);
  const { rows } = await sql<{ id: number }>`${isPlain ? sql`` : plannedAnew}
    select id from (${sql.join(firsts, sql` union all `)}) page limit ${sql.lit(limit)} offset ${sql.lit(offset)}`.execute(db);
  return { ids: rows.map(({ id }) => id) };
}

async function idsOfPage(
  db: Database,
  selection: Selection,
  parts: readonly Part[],
  offset: number,
  limit: number,
): Promise<Found> {
  const isNarrow = selection.filters.some((filter) => filter.isNarrow);
  const short = isNarrow ? await gathered(db, selection, parts, offset, limit) : undefined;
  return short ?? walked(db, selection, parts, offset, limit);
}

/** How many issues there are, up to one more than is ever told. */
async function countOf(db: Database, selection: Selection, most: number): Promise<number> {
  const tests = all([ofProjects(selection), ...within(selection)]);
  const { rows } = await sql<{ total: number }>`${selection.filters.length === 0 ? sql`` : plannedAnew}
    select count(*) as total from (select from issues where ${tests} limit ${sql.lit(most)}) counted`.execute(db);
  return rows[0]!.total;
}

/**
 * A page of issues as replies, in a fixed number of statements however long it is.
 * @param listing what is listed; `filters` may hold any of the parameters of lists, also `order_by`, `sort` and `with_labels_details`
 * @throws ApiError 400 for filters that are neither ids nor words, and as `pageAsked`
 */
export async function listIssues(
  services: Pick<Services, 'db' | 'url'>,
  listing: Listing,
  input: Paging,
): Promise<Page<IssueReply>> {
  const { db } = services;
  const { order_by = 'created_at', sort = 'desc', with_labels_details } = listing.filters;
  const { page, per_page, offset } = pageAsked(input);
  const selection = await selectionOf(db, listing);
  const { ids, total } = await idsOfPage(db, selection, partsOf(order_by, sort), offset, per_page + 1);
  const has_more = ids.length > per_page;
  const shown = ids.slice(0, per_page);
  const relative_to = 'project' in listing.place ? listing.place.project.id : undefined;
  const [items, counted] = await Promise.all([
    presentIssues(services, listing.caller, shown, { relative_to, with_labels_details }),
    totalOf({ offset, shown: shown.length, has_more }, async (most) => total ?? countOf(db, selection, most)),
  ]);
  return { items, page, per_page, has_more, ...counted };
}

/**
 * How many issues there are in each state.
 * @param listing as for `listIssues`
 * @throws ApiError 400 for filters that are neither ids nor words
 */
export async function countIssues(db: Database, listing: Listing): Promise<{ all: number; closed: number; opened: number }> {
  const selection = await selectionOf(db, listing);
  const { rows } = await sql<{ opened: number; closed: number }>`${plannedAnew}
    select count(*) filter (where state = 'opened') as opened, count(*) filter (where state = 'closed') as closed
      from issues where ${all([ofProjects(selection), ...within(selection)])}`.execute(db);
  const { opened, closed } = rows[0]!;
  return { all: opened + closed, closed, opened };
}
