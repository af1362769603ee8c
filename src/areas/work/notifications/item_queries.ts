/** What a message says of the thing that it is about. */
import { type RawBuilder, sql } from 'kysely';
import { type DiscussedCommit, type Issuable, isIssuable, type Noteable, type Stored } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Commit, readCommit, repositoryOf, resolveCommit } from '../../../git/index.ts';
import type { JobServices } from '../../../services/index.ts';
import { severityOf, vulnerabilityPage } from '../../code/vulnerabilities/index.ts';
import { errorPage, titleOf } from '../error_tracking/index.ts';
import {
  type FoundVulnerability,
  isInGroup,
  type ProjectItself,
  rowAbout,
  type Subject,
  type TrackedError,
} from './subject_queries.ts';

/** The project or group. */
interface Place {
  place_id: number;
  place_name: string;
  full_path: string;
  storage: string | null;
  /** The group that it is in, after those around that one. */
  groups: number[];
}

/** A thing in its project or group. */
export interface Item extends Place {
  subject: Subject;
  /** The kind of thing, e.g. `merge request`. */
  name: string;
  /** What follows the name, e.g. `#12`. */
  label: string;
  title: string | null;
  /** What it says when it is new. */
  description: string | null;
  /** As the first message about it is identified, e.g. `issue_12`. */
  thread: string;
  /** The path of its page. */
  page: string;
  /** Headers by which mail programs sort, without their prefix. */
  facts: Readonly<Record<string, string | number>>;
  assignees: string[];
  reviewers: string[];
  /** What a message about it lists, whatever happened. */
  details?: [name: string, value: string][];
}

type Looks = Omit<Item, keyof Place | 'subject'>;
type Described = Pick<Looks, 'title' | 'description'>;

async function placeOf(db: Database, subject: Subject): Promise<Place | undefined> {
  const { rows, isIts } = rowAbout(subject);
  const [place, group_id, storage] = isInGroup(subject)
    ? ['namespaces', sql`namespaces.id`, sql`null`]
    : ['projects', sql`projects.namespace_id`, sql`projects.storage`];
  const of = (column: string) => sql.ref(`${place}.${column}`);
  const found = await sql<Place>`
    select ${of('id')} as place_id, ${of('name')} as place_name, ${of('full_path')} as full_path, ${storage} as storage,
           (select traversal_ids from namespaces groups where groups.id = ${group_id}) as groups
      from ${rows} where ${isIts}`.execute(db);
  return found.rows[0];
}

/** A row of its table. */
async function rowFor<R>(db: Database, { kind, id }: Stored, columns: RawBuilder<unknown>): Promise<R | undefined> {
  const { rows } = await sql<R>`select ${columns} from ${sql.table(kind.table)} where id = ${id}`.execute(db);
  return rows[0];
}

const namesIn = (table: string | undefined, { kind, id }: Issuable) =>
  table === undefined
    ? sql`array[]::text[]`
    : sql`array(select name from ${sql.table(table)} people join users on users.id = people.user_id
        where people.${sql.ref(kind.column)} = ${id} order by users.id)`;

interface IssuableRow extends Described {
  iid: number;
  state: string;
  assignees: string[];
  reviewers: string[];
  /** Null for kinds that cannot be. */
  confidential: boolean | null;
}

async function issuableLooks(db: Database, on: Issuable, { full_path }: Place): Promise<Looks | undefined> {
  const { kind, id } = on;
  const confidential = kind.table === 'merge_requests' ? sql`null::boolean` : sql`confidential`;
  const row = await rowFor<IssuableRow>(
    db,
    on,
    sql`iid, title, description, state, ${confidential} as confidential, ${namesIn(kind.assignees, on)} as assignees, ${namesIn(kind.reviewers, on)} as reviewers`,
  );
  if (!row) return undefined;
  const { iid, state, confidential: isConfidential, ...rest } = row;
  return {
    ...rest,
    name: kind.name,
    label: `${kind.sign}${iid}`,
    thread: `${kind.reference}_${id}`,
    page: `${isInGroup(on) ? 'groups/' : ''}${full_path}${kind.page}${iid}`,
    facts: {
      [`${kind.type}-ID`]: id,
      [`${kind.type}-IID`]: iid,
      [`${kind.type}-State`]: state,
      ...(kind.type === 'Issue' ? { ConfidentialIssue: String(isConfidential) } : {}),
    },
  };
}

const nobody = { assignees: [], reviewers: [] };

async function snippetLooks(db: Database, on: Stored, { full_path }: Place): Promise<Looks | undefined> {
  const row = await rowFor<Described>(db, on, sql`title, description`);
  const [thread, page] = [`project_snippet_${on.id}`, `${full_path}/-/snippets/${on.id}`];
  return row && { ...row, ...nobody, name: 'snippet', label: `$${on.id}`, thread, page, facts: { 'Snippet-ID': on.id } };
}

/** The commit, unless its repository has lost it. */
export async function commitOf(
  { storages }: Pick<JobServices, 'storages'>,
  on: DiscussedCommit,
  storage: string,
): Promise<Commit | undefined> {
  const repository = repositoryOf({ storages }, { id: on.project_id, storage });
  const id = await resolveCommit(repository, on.sha);
  return id === undefined ? undefined : readCommit(repository, id);
}

async function commitLooks(
  services: Pick<JobServices, 'storages'>,
  on: DiscussedCommit,
  { full_path, storage }: Place,
): Promise<Looks | undefined> {
  const commit = await commitOf(services, on, storage!);
  const [label, page] = [on.sha.slice(0, 8), `${full_path}/-/commit/${on.sha}`];
  const facts = { 'Commit-ID': on.sha };
  return (
    commit && {
      ...nobody,
      title: commit.title,
      description: null,
      name: 'commit',
      label,
      thread: `commit_${on.sha}`,
      page,
      facts,
    }
  );
}

const projectLooks = ({ project_id }: ProjectItself, { full_path }: Place): Looks => ({
  ...nobody,
  ...{ name: 'project', label: `to ${full_path}`, title: null, description: null },
  ...{ thread: `project_${project_id}`, page: full_path, facts: {} },
});

/** Titles are texts of applications, of which everyone who has a client key can send some. */
const longestErrorTitle = 200;

async function errorLooks(db: Database, { error_id }: TrackedError, { full_path }: Place): Promise<Looks | undefined> {
  const row = await db
    .selectFrom('error_tracking_errors as errors')
    .innerJoin('error_tracking_error_texts as texts', 'texts.error_id', 'errors.id')
    .select(['id', 'name', 'description', 'actor', 'level', 'last_release', 'events_count', 'users_count', 'status'])
    .where('errors.id', '=', error_id)
    .executeTakeFirst();
  if (!row) return undefined;
  const { id, actor, level, last_release, events_count, users_count, status } = row;
  const counts: [string, string][] = [
    ['Events', String(events_count)],
    ['Users', String(users_count)],
  ];
  return {
    ...nobody,
    ...{ name: 'error', label: String(id), description: null, thread: `error_${id}`, page: errorPage({ full_path }, { id }) },
    title: [...titleOf(row).replaceAll(/\s+/g, ' ')].slice(0, longestErrorTitle).join(''),
    details: [
      ['Where', actor],
      ['Level', level],
      ...(last_release === null ? [] : [['Release', last_release] as [string, string]]),
      ...counts,
    ],
    facts: { 'Error-ID': id, 'Error-Level': level, 'Error-Status': status },
  };
}

async function vulnerabilityLooks(
  db: Database,
  { vulnerability_id }: FoundVulnerability,
  { full_path }: Place,
): Promise<Looks | undefined> {
  const row = await db
    .selectFrom('vulnerabilities')
    .select(['id', 'name', 'severity', 'state'])
    .where('id', '=', vulnerability_id)
    .executeTakeFirst();
  if (!row) return undefined;
  const { id, name, state } = row;
  const severity = severityOf(row.severity);
  return {
    ...nobody,
    ...{ name: 'vulnerability', label: String(id), title: name, description: null },
    ...{ thread: `vulnerability_${id}`, page: vulnerabilityPage(full_path, id) },
    details: [['Severity', severity]],
    facts: { 'Vulnerability-ID': id, 'Vulnerability-Severity': severity, 'Vulnerability-State': state },
  };
}

function looksOf(services: Pick<JobServices, 'db' | 'storages'>, subject: Subject, place: Place) {
  if ('error_id' in subject) return errorLooks(services.db, subject, place);
  if ('vulnerability_id' in subject) return vulnerabilityLooks(services.db, subject, place);
  if (!subject.kind) return projectLooks(subject, place);
  if (!('id' in subject)) return commitLooks(services, subject, place);
  return isIssuable(subject as Noteable)
    ? issuableLooks(services.db, subject as Issuable, place)
    : snippetLooks(services.db, subject, place);
}

/** @returns undefined when it is gone */
export async function itemOf(services: Pick<JobServices, 'db' | 'storages'>, subject: Subject): Promise<Item | undefined> {
  const place = await placeOf(services.db, subject);
  const looks = place && (await looksOf(services, subject, place));
  return looks && { ...place, ...looks, subject };
}
