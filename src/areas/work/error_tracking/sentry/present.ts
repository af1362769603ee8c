/** Errors and events in Sentry's format. */
import type { Project } from '../../../../access/index.ts';
import { errorPage, titleOf } from '../errors/present.ts';
import type { ErrorRow, Stats } from '../errors/queries.ts';
import type { WholeEvent } from '../events/queries.ts';
import type { TracedFrame } from '../events/source_git.ts';
import { exceptionsOf, messageOf } from '../events/stack_rules.ts';
import { type JsonObject, tagPairs, textOf } from '../payload/rules.ts';

/** The first segment of a project's path is the organization. */
export function organizationOf({ full_path }: Pick<Project, 'full_path'>) {
  const slug = full_path.slice(0, full_path.indexOf('/'));
  return { id: slug, name: slug, slug };
}

/** For a project in a subgroup, the id is used, because its path contains slashes. */
export function sentryProject({ id, name, path, full_path }: Pick<Project, 'id' | 'name' | 'path' | 'full_path'>) {
  const isDirect = full_path.split('/').length === 2;
  return { id: String(id), name, slug: isDirect ? path : String(id) };
}

const release = (version: string | null) => version && { version, shortVersion: version, lastCommit: null };

export const sentryIssue = (url: string, project: Project, row: ErrorRow, stats: Stats) => ({
  id: String(row.id),
  shortId: `${project.path}-${row.id}`.toUpperCase(),
  title: titleOf(row),
  culprit: row.actor,
  permalink: url + errorPage(project.full_path, row.id),
  type: 'error',
  metadata: { type: row.name, value: row.description },
  level: row.level,
  logger: null,
  platform: row.platform,
  status: row.status,
  firstSeen: row.first_seen_at,
  lastSeen: row.last_seen_at,
  count: String(row.events_count),
  userCount: row.users_count,
  firstRelease: release(row.first_release),
  lastRelease: release(row.last_release),
  assignedTo: row.assignee && { type: 'user', id: String(row.assignee.id), name: row.assignee.name },
  project: sentryProject(project),
  stats: { '24h': stats['24h'] },
  annotations: [],
  pluginIssues: [],
});

/** A stack frame as sent, and its original position. */
export interface ShownFrame {
  sent: JsonObject;
  traced: TracedFrame;
}

const frame = ({ sent, traced: { abs_path, minified: _, ...read } }: ShownFrame) => ({
  ...read,
  absPath: abs_path,
  module: textOf(sent.module) ?? null,
  inApp: sent.in_app === true,
});

const exception = (given: JsonObject, frames: readonly ShownFrame[]) => ({
  type: textOf(given.type) ?? null,
  value: textOf(given.value) ?? null,
  module: textOf(given.module) ?? null,
  stacktrace: frames.length > 0 ? { frames: frames.map(frame) } : null,
});

/** The tags sent by clients, and those that every event has. */
function tagsOf({ environment, level, release: version }: WholeEvent, { tags }: JsonObject) {
  const own = Object.entries({ environment, level, ...(version === null ? {} : { release: version }) });
  return [...own, ...tagPairs(tags)].map(([key, value]) => ({ key, value }));
}

/** @param stacks the stacks of the event's exceptions, in order */
export function sentryEvent(
  project: Pick<Project, 'id'>,
  event: WholeEvent,
  stacks: readonly (readonly ShownFrame[])[],
) {
  const { payload } = event;
  const values = exceptionsOf(payload).map((given, index) => exception(given, stacks[index]!));
  const message = messageOf(payload)?.formatted ?? '';
  return {
    id: event.event_id,
    eventID: event.event_id,
    groupID: String(event.error_id),
    projectID: String(project.id),
    dateCreated: event.occurred_at,
    dateReceived: event.received_at,
    title: event.description,
    message,
    platform: textOf(payload.platform) ?? null,
    user: event.user,
    tags: tagsOf(event, payload),
    entries: [
      ...(values.length > 0 ? [{ type: 'exception', data: { values } }] : []),
      ...(message === '' ? [] : [{ type: 'message', data: { formatted: message } }]),
    ],
  };
}
