/** `mentioned in …`: what an issue or epic notes when the text of another one names it (issues.md section 13). */
import { sql } from 'kysely';
import { isVisibleEpic, isVisibleIssue } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Caller } from '../../../http/index.ts';
import type { Reference } from '../../../markdown/index.ts';
import { columnsOfNoteable, type Noteable } from './queries.ts';

/** Most issues and epics, each, that one text tells of itself. */
const maximumTargets = 100;
const largestIid = 2 ** 31 - 1;

interface CrossReferences {
  /** Who wrote the text: what he may not read he cannot mention. */
  actor: Caller;
  /** Where it stands. */
  source: Noteable;
  references: readonly Reference[];
}

/** Where a text stands: in a project, or, that of an epic, in a group alone. */
interface Place {
  iid: number;
  group_id: number;
  group_path: string;
  project_id: number | null;
  project_path: string | null;
}

/** An issue or epic that is named. */
interface Target {
  issue_id: number | null;
  epic_id: number | null;
  project_id: number | null;
  group_id: number;
}

async function placeOf(tx: Database, source: Noteable): Promise<Place> {
  const { rows } = await ('issue_id' in source
    ? sql<Place>`
        select issues.iid, namespaces.id as group_id, namespaces.full_path as group_path, projects.id as project_id, projects.full_path as project_path
          from issues join projects on projects.id = issues.project_id join namespaces on namespaces.id = projects.namespace_id
         where issues.id = ${source.issue_id}`
    : sql<Place>`
        select epics.iid, namespaces.id as group_id, namespaces.full_path as group_path, null::bigint as project_id, null as project_path
          from epics join namespaces on namespaces.id = epics.group_id where epics.id = ${source.epic_id}`
  ).execute(tx);
  return rows[0]!;
}

/** The full path of the project that a reference to an issue means; of one in the same group its name is enough. */
function projectPath({ path }: Reference, place: Place): string | undefined {
  if (path === undefined) return place.project_path ?? undefined;
  return path.includes('/') ? path : `${place.group_path}/${path}`;
}

/** Paths and numbers as two columns, each pair once. */
function asked(references: readonly Reference[], pathOf: (reference: Reference) => string | undefined) {
  const pairs = new Map<string, { path: string; iid: number }>();
  for (const reference of references) {
    const path = pathOf(reference);
    const iid = Number(reference.value);
    if (path === undefined || iid > largestIid) continue;
    pairs.set(`${path.toLowerCase()} ${iid}`, { path, iid });
    if (pairs.size === maximumTargets) break;
  }
  const all = [...pairs.values()];
  return { paths: all.map(({ path }) => path), iids: all.map(({ iid }) => iid) };
}

async function issuesNamed(tx: Database, { actor, references }: CrossReferences, place: Place): Promise<Target[]> {
  const issues = references.filter(({ kind }) => kind === 'issue');
  const { paths, iids } = asked(issues, (reference) => projectPath(reference, place));
  if (paths.length === 0) return [];
  const { rows } = await sql<Target>`
    select issues.id as issue_id, null::bigint as epic_id, projects.id as project_id, projects.namespace_id as group_id
      from unnest(${paths}::citext[], ${iids}::integer[]) asked(path, iid) join projects on projects.full_path = asked.path
           join issues on issues.project_id = projects.id and issues.iid = asked.iid
     where ${isVisibleIssue(actor)} order by issues.id`.execute(tx);
  return rows;
}

async function epicsNamed(tx: Database, { actor, references }: CrossReferences, place: Place): Promise<Target[]> {
  const epics = references.filter(({ kind }) => kind === 'epic');
  const { paths, iids } = asked(epics, ({ path }) => path ?? place.group_path);
  if (paths.length === 0) return [];
  const { rows } = await sql<Target>`
    select null::bigint as issue_id, epics.id as epic_id, null::bigint as project_id, namespaces.id as group_id
      from unnest(${paths}::citext[], ${iids}::integer[]) asked(path, iid) join namespaces on namespaces.full_path = asked.path
           join epics on epics.group_id = namespaces.id and epics.iid = asked.iid
     where ${isVisibleEpic(actor)} order by epics.id`.execute(tx);
  return rows;
}

/** What the source is called on the page of the target: by its number alone where both belong together. */
function nameFor(target: Target, place: Place): string {
  if (place.project_path === null) return `epic ${target.group_id === place.group_id ? '' : place.group_path}&${place.iid}`;
  return `issue ${target.project_id === place.project_id ? '' : place.project_path}#${place.iid}`;
}

/**
 * Notes on each issue and epic that a text names, and its author may read, that it was mentioned there; where that stands already nothing is added. Always in the
 * order of their ids, so that two texts which name the same do not wait for each other.
 */
export async function noteCrossReferences(tx: Database, cross: CrossReferences): Promise<void> {
  if (!cross.references.some(({ kind }) => kind === 'issue' || kind === 'epic')) return;
  const place = await placeOf(tx, cross.source);
  const targets = [...(await issuesNamed(tx, cross, place)), ...(await epicsNamed(tx, cross, place))];
  const { issue_id, epic_id } = columnsOfNoteable(cross.source);
  const others = targets.filter((target) => target.issue_id !== issue_id || target.epic_id !== epic_id);
  if (others.length === 0) return;
  const notes = others.map((target) => ({
    issue_id: target.issue_id,
    epic_id: target.epic_id,
    body: `mentioned in ${nameFor(target, place)}`,
    author_id: cross.actor.id,
    system: true,
    refers_to_issue_id: issue_id,
    refers_to_epic_id: epic_id,
    is_mention: true,
  }));
  await tx
    .insertInto('notes')
    .values(notes)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
