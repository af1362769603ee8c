/** Endpoints with which Sentry clients announce releases (docs/reference/error_tracking.md#announcing-releases). */
import type { Project } from '../../../../access/index.ts';
import { badRequest, notFound } from '../../../../http/index.ts';
import {
  announceVersion,
  changeVersions,
  deleteVersions,
  maximumVersionLength,
  type VersionChanges,
} from '../releases/version_actions.ts';
import { previousWithCommits, type VersionRow, versionsNamed, versionsOf } from '../releases/version_queries.ts';
import { answer, at, callerIn, linksOf, pageIn, projectIn, projectsIn, type SentryCall, textIn } from './access.ts';
import { sentryProject } from './present.ts';

const maximumPerPage = 100;
const maximumUrl = 2048;

/** @throws ApiError 400 for an invalid version */
export function versionNamed(value: unknown): string {
  const version = textIn(value).trim();
  if (version === '' || version.length > maximumVersionLength || /[\n\t\f\r]/.test(version))
    throw badRequest('version is invalid');
  return version;
}

/** A release in Sentry's format: the same release of several projects is shown once. */
function presentVersion([row, ...others]: [VersionRow, ...VersionRow[]]) {
  const { version, url, commit_sha, created_at, started_at, released_at } = row;
  const projects = [row, ...others].map(({ project }) => sentryProject(project as Project));
  return {
    version,
    shortVersion: version,
    url,
    ref: commit_sha,
    status: 'open',
    newGroups: 0,
    commitCount: 0,
    authors: [],
    dateCreated: created_at,
    dateStarted: started_at,
    dateReleased: released_at,
    firstEvent: null,
    lastEvent: null,
    lastCommit: commit_sha && { id: commit_sha },
    projects,
  };
}

const isRows = (rows: VersionRow[]): rows is [VersionRow, ...VersionRow[]] => rows.length > 0;

/** The release in the URL, in those projects where the caller may read or change it. */
async function versionIn(call: SentryCall, may: 'read' | 'change'): Promise<[VersionRow, ...VersionRow[]]> {
  const { org = '', version = '' } = call.request.params;
  const rows = await versionsNamed(call.services.db, callerIn(call), { org, version: textIn(version), may });
  if (!isRows(rows)) throw notFound('Release');
  return rows;
}

/** @throws ApiError 400 */
function dateIn(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  const date = new Date(textIn(value) || Number.NaN);
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() < 1970 || date.getUTCFullYear() > 9999)
    throw badRequest(`${name} is invalid`);
  return date.toISOString();
}

/** The newest commit in a body: clients list commits from newest to oldest. */
function commitIn({ fields: { commits, refs } }: SentryCall): string | undefined {
  const [first] = (Array.isArray(commits) ? commits : Array.isArray(refs) ? refs : []) as Record<string, unknown>[];
  const id = textIn(first?.id ?? first?.commit).toLowerCase();
  if (first !== undefined && !/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(id)) throw badRequest('commits must have full ids');
  return first && id;
}

/** @throws ApiError 400 for values that cannot be stored */
function changesIn(call: SentryCall): VersionChanges {
  const { url, dateStarted, dateReleased } = call.fields;
  const [address, commit_sha] = [textIn(url).slice(0, maximumUrl) || undefined, commitIn(call)];
  return {
    url: address,
    commit_sha,
    started_at: dateIn(dateStarted, 'dateStarted'),
    released_at: dateIn(dateReleased, 'dateReleased'),
  };
}

async function addVersion(call: SentryCall) {
  const version = versionNamed(call.fields.version);
  const { db } = call.services;
  await announceVersion(db, await projectsIn(call), version, changesIn(call));
  const rows = await versionsNamed(db, callerIn(call), { org: call.request.params.org ?? '', version, may: 'change' });
  if (!isRows(rows)) throw notFound('Release');
  return answer(call, presentVersion(rows), 201);
}

async function changeVersion(call: SentryCall) {
  const { db } = call.services;
  const changes = changesIn(call);
  const { version = '' } = call.request.params;
  // Finalising an unannounced release also announces it.
  if (call.fields.projects !== undefined)
    await announceVersion(db, await projectsIn(call), versionNamed(version), changes);
  else
    await changeVersions(
      db,
      (await versionIn(call, 'change')).map(({ id }) => id),
      changes,
    );
  return answer(call, presentVersion(await versionIn(call, 'change')));
}

const showVersion = async (call: SentryCall) => answer(call, presentVersion(await versionIn(call, 'read')));

async function showPrevious(call: SentryCall) {
  const [row] = await versionIn(call, 'read');
  const previous = await previousWithCommits(call.services.db, row);
  return answer(call, previous ? presentVersion([previous]) : {});
}

async function deleteVersion(call: SentryCall) {
  const { org = '', version = '' } = call.request.params;
  const deleted = await deleteVersions(call.services.db, callerIn(call), org, textIn(version));
  if (deleted === 0n) throw notFound('Release');
  return call.reply.status(204).send();
}

async function listVersions(call: SentryCall) {
  const [project, page] = [await projectIn(call), pageIn(call, maximumPerPage)];
  const { items, has_more } = await versionsOf(call.services.db, project, page);
  call.reply.header('link', linksOf(call, page, has_more));
  return answer(
    call,
    items.map((row) => presentVersion([row])),
  );
}

const release = '/organizations/:org/releases/:version';
export const releaseDoors = [
  at('POST', '/organizations/:org/releases', addVersion),
  at('GET', release, showVersion),
  at('PUT', release, changeVersion),
  at('DELETE', release, deleteVersion),
  at('GET', `${release}/previous-with-commits`, showPrevious),
  at('GET', '/projects/:org/:project/releases', listVersions),
];
