/** Resolving the arguments of commands. */
import { sql } from 'kysely';
import {
  epicKind,
  type IssuableKind,
  isReaderOf,
  issueKind,
  isUsableAccount,
  mergeRequestKind,
} from '../../../access/index.ts';
import { ofAnyLength } from '../../../db/index.ts';
import { type Reference, type ReferenceKind, referencesIn } from '../../../markdown/index.ts';
import { type LabelRow, labelsTitled } from '../../planning/labels/index.ts';
import { type MilestoneRow, milestoneRows, milestoneTitled } from '../../planning/milestones/index.ts';
import { type Named, thingsNamed } from '../markdown/reference_queries.ts';
import type { Situation } from './definition.ts';
import { projectOf } from './rules.ts';

/** The maximum number of items in one command. */
const maximumNamed = 100;

async function references({ url }: Situation, argument: string, kind: ReferenceKind): Promise<Reference[]> {
  const all = await referencesIn(argument, url);
  return all.filter((reference) => reference.kind === kind).slice(0, maximumNamed);
}

const names = (argument: string): string[] =>
  argument
    .split(/[\s,]+/)
    .filter((name) => name !== '' && name !== 'and')
    .slice(0, maximumNamed);

/** The labels of `~a ~"b c"`, or of titles without the `~`. */
export async function namedLabels(situation: Situation, argument: string): Promise<LabelRow[]> {
  const marked = (await references(situation, argument, 'label')).map(({ value }) => value);
  const quoted = argument.match(/"[^"]+"/g)?.map((text) => text.slice(1, -1)) ?? [];
  const titles = marked.length > 0 ? marked : quoted.length > 0 ? quoted : [argument, ...names(argument)];
  const found = await labelsTitled(situation.tx, situation.labels_from, titles);
  const whole = marked.length === 0 ? found.find(({ title }) => title === argument) : undefined;
  return whole ? [whole] : found;
}

/** A label as a reference. */
export const labelReference = (title: string): string =>
  /^[\p{L}\p{N}_.-]+$/u.test(title) ? `~${title}` : `~"${title}"`;

export interface NamedUser {
  id: number;
  username: string;
}

/** The users of `@a @b`, `a, b and c`, or `me`, if all of them exist and may read the target; otherwise none. */
export async function namedUsers({ tx, caller, on }: Situation, argument: string): Promise<NamedUser[]> {
  const wanted = [
    ...new Set(names(argument).map((name) => (name === 'me' ? caller.username : name.replace(/^@/, '')).toLowerCase())),
  ];
  if (wanted.length === 0) return [];
  const { rows } = await sql<NamedUser>`
    select id, username::text as username from users
     where username = any(${ofAnyLength(wanted, 'citext[]')}) and ${isUsableAccount} and ${isReaderOf(on)}`.execute(tx);
  const found = wanted.flatMap((name) => rows.find(({ username }) => username.toLowerCase() === name) ?? []);
  return found.length === wanted.length ? found : [];
}

/** The milestone of `%title`, `%"a title"` or `%1`, or of a title without the `%`. */
export async function namedMilestone(situation: Situation, argument: string): Promise<MilestoneRow | undefined> {
  const [reference] = await references(situation, argument, 'milestone');
  const project = projectOf(situation);
  const title = reference?.value ?? argument;
  const titled = title === '' ? undefined : await milestoneTitled(situation.tx, project, title);
  if (titled || !/^\d{1,9}$/.test(reference?.value ?? '')) return titled;
  const query = milestoneRows(situation.tx).where('milestones.project_id', '=', project.id);
  return query.where('milestones.iid', '=', Number(title)).executeTakeFirst();
}

export interface NamedIssue {
  id: number;
  /** The reference to the target in its own context. */
  reference: string;
}

/** The paths that a reference may stand for: as written, or relative to the context of the text. */
const pathsOf = (path: string | undefined, own: string): string[] =>
  path === undefined ? [own] : [path, `${own.slice(0, own.lastIndexOf('/'))}/${path}`];

/** The issues or merge requests in an argument that the caller may read. */
async function named(situation: Situation, argument: string, kind: IssuableKind): Promise<NamedIssue[]> {
  const { full_path: own } = projectOf(situation);
  const pairs = (await references(situation, argument, kind.reference)).flatMap(({ path, value }) =>
    pathsOf(path, own).map((meant) => ({ path: meant, iid: Number(value) })),
  );
  const things = await thingsNamed(situation.tx, situation.caller, kind, pairs);
  const known = new Map(things.map((thing) => [thing.id, thing]));
  return [...known.values()].map(({ id, iid, full_path }) => ({
    id,
    reference: `${full_path === own ? '' : full_path}${kind.sign}${iid}`,
  }));
}

/** The issues of `#1`, `group/project#1` or their addresses that the caller may read. */
export const namedIssues = (situation: Situation, argument: string): Promise<NamedIssue[]> =>
  named(situation, argument, issueKind);

/** The first issue or merge request of `#1`, `!1`, `group/project!1` or their addresses that the caller may read. */
export async function namedSource(
  situation: Situation,
  argument: string,
): Promise<(NamedIssue & { kind: IssuableKind }) | undefined> {
  for (const kind of [issueKind, mergeRequestKind]) {
    const [source] = await named(situation, argument, kind);
    if (source) return { ...source, kind };
  }
  return undefined;
}

/** The epic of `&1`, `group&1` or its address, if the caller may read it. */
export async function namedEpic(situation: Situation, argument: string): Promise<Named | undefined> {
  const [reference] = await references(situation, argument, 'epic');
  if (!reference) return undefined;
  const { on, tx, caller } = situation;
  const own =
    'group' in on.in
      ? on.in.group.full_path
      : on.in.project.full_path.slice(0, on.in.project.full_path.lastIndexOf('/'));
  const [epic] = await thingsNamed(tx, caller, epicKind, [
    { path: reference.path ?? own, iid: Number(reference.value) },
  ]);
  return epic;
}
