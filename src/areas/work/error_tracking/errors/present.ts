/** How errors appear in replies. */
import { type Static, Type } from 'typebox';
import { issueKind, type Project } from '../../../../access/index.ts';
import { pagePath } from '../../../../foundation/addresses.ts';
import { Address, Id, Iid, nullable, resource, Timestamp } from '../../../../http/index.ts';
import { presentUserBasic, UserBasic } from '../../../people/users/index.ts';
import { ErrorEvent } from '../events/present.ts';
import type { EventRow } from '../events/queries.ts';
import { type ErrorRow, type Stats, statuses, type TagRow } from './queries.ts';

const errorFields = {
  id: Id,
  name: Type.String(),
  title: Type.String({ description: 'The name and the description' }),
  description: Type.String(),
  actor: Type.String({ description: 'Where it happened: the transaction or the function' }),
  platform: Type.String(),
  level: Type.String(),
  status: Type.Enum([...statuses]),
  assignee: nullable(UserBasic),
  first_seen_at: Timestamp,
  last_seen_at: Timestamp,
  first_release: nullable(Type.String()),
  last_release: nullable(Type.String()),
  events_count: Type.Integer(),
  users_count: Type.Integer(),
  fingerprint: Type.String(),
  issue: nullable(Type.Object({ id: Id, iid: Iid, title: Type.String(), state: Type.String(), web_url: Address() })),
  web_url: Address(),
};
export const TrackedError = resource('TrackedError', errorFields);

const Counts = Type.Unsafe<[number, number][]>(Type.Array(Type.Array(Type.Integer())));
export const ErrorDetails = resource('ErrorDetails', {
  ...errorFields,
  latest_event: nullable(ErrorEvent),
  tags: Type.Array(
    Type.Object({
      key: Type.String(),
      values: Type.Array(Type.Object({ value: Type.String(), count: Type.Integer() })),
    }),
    { description: 'The ten most frequent values of each' },
  ),
  stats: Type.Object(
    { '24h': Counts, '30d': Counts },
    { description: 'Events by hour and by day: the start in seconds since 1970, and the number' },
  ),
});

/** The name and the description, which are equal for a short message. */
export const titleOf = ({ name, description }: Pick<ErrorRow, 'name' | 'description'>): string =>
  description === '' || description === name ? name : `${name} ${description}`;

export const errorPage = pagePath('/:project/-/error_tracking/:error_id/details');

/** @param url the external address of the server, without a trailing slash */
export const presentError =
  (url: string, project: Pick<Project, 'full_path'>) =>
  (row: ErrorRow): Static<typeof TrackedError> => {
    const { assignee, issue, ...rest } = row;
    return {
      ...rest,
      title: titleOf(row),
      assignee: assignee && presentUserBasic(url, assignee),
      issue: issue && { ...issue, web_url: url + issueKind.page(issue.full_path, issue.iid) },
      web_url: url + errorPage(project.full_path, row.id),
    };
  };

export const presentErrorDetails = (
  error: Static<typeof TrackedError>,
  { latest_event, tags, stats }: { latest_event: EventRow | undefined; tags: TagRow[]; stats: Stats },
): Static<typeof ErrorDetails> => ({ ...error, latest_event: latest_event ?? null, tags, stats });
