/** Documentation of the endpoints for Sentry clients (docs/reference/error_tracking.md#clients-of-sentry). */
import type { DescribedDoor } from '../../../../http/index.ts';

const refusals = {
  401: 'There is no token, or it is none',
  403: 'The scope of the token or the role does not suffice',
  404: 'It does not exist, or the caller may not see it',
};
const invalid = 'A parameter is invalid; `detail` says which';

interface Described {
  operation: string;
  summary: string;
  description: string;
  /** The successful reply. */
  returns: string;
  /** Defaults to 200. */
  status?: 201 | 204;
  /** The type of the body; omitted if there is none. */
  body_type?: 'application/json' | 'multipart/form-data';
  /** Names of query parameters. */
  parameters?: readonly string[];
  /** Further refusals. */
  also?: Readonly<Record<number, string>>;
}

const described = (
  method: DescribedDoor['method'],
  path: string,
  { operation, summary, description, returns, status, body_type, parameters, also }: Described,
): DescribedDoor => ({
  method,
  path: `/0${path}`,
  root: '/api',
  description: {
    operation,
    summary,
    description,
    tag: 'Error tracking',
    offerings: ['hosted'],
    needs_token: true,
    body_types: body_type === undefined ? [] : [body_type],
    text_parameters: ['org', 'project', 'version', 'event'],
    ...(parameters ? { query_parameters: parameters } : {}),
    responses: { [status ?? 200]: returns, ...(also ?? {}), ...refusals },
  },
});

const pages = '`limit` is the size of a page, and `cursor` comes from the header `Link`.';
const list = { parameters: ['limit', 'cursor'], also: { 400: invalid } };
const change = { body_type: 'application/json', also: { 400: invalid } } as const;
const release = '/organizations/:org/releases/:version/';

/** Paths end with a slash, as in Sentry's clients; without it they are found too. */
export const sentryDoors: readonly DescribedDoor[] = [
  described('GET', '/projects/', {
    operation: 'listSentryProjects',
    summary: 'List the projects that take errors, for clients of Sentry',
    description: 'The first 100 whose errors the caller may read.',
    returns: 'The projects',
  }),
  described('GET', '/projects/:org/:project/issues/', {
    operation: 'listSentryIssues',
    summary: 'List the errors of a project, for clients of Sentry',
    description: `\`query\` has words and \`is:unresolved\`, \`is:resolved\` or \`is:ignored\`; \`sort\` is \`freq\`, \`new\` or \`user\`. ${pages}`,
    returns: 'The errors',
    ...list,
    parameters: ['query', 'sort', ...list.parameters],
  }),
  described('GET', '/issues/:issue/', {
    operation: 'getSentryIssue',
    summary: 'Get an error, for clients of Sentry',
    description: 'With its statistics.',
    returns: 'The error',
  }),
  described('PUT', '/issues/:issue/', {
    operation: 'updateSentryIssue',
    summary: 'Change the status of an error, for Sentry clients',
    description: '`status` is `resolved`, `resolvedInNextRelease`, `unresolved` or `ignored`.',
    returns: 'The status',
    ...change,
  }),
  described('GET', '/issues/:issue/events/', {
    operation: 'listSentryEvents',
    summary: 'List the events of an error, for clients of Sentry',
    description: `At most ten on a page. ${pages}`,
    returns: 'The events, newest first',
    ...list,
  }),
  described('GET', '/issues/:issue/events/:event/', {
    operation: 'getSentryEvent',
    summary: 'Get an event of an error, for clients of Sentry',
    description: '`event` is an ID, `latest` or `oldest`.',
    returns: 'The event',
  }),
  described('GET', '/organizations/:org/repos/', {
    operation: 'listSentryRepositories',
    summary: 'List the repositories of projects, for clients of Sentry',
    description: 'Those of the projects that take errors.',
    returns: 'The repositories',
  }),
  described('GET', '/projects/:org/:project/releases/', {
    operation: 'listSentryReleases',
    summary: 'List the releases that clients of Sentry have announced for a project',
    description: pages,
    returns: 'The releases, newest first',
    ...list,
  }),
  described('POST', '/organizations/:org/releases/', {
    operation: 'createSentryRelease',
    summary: 'Create a release, for Sentry clients',
    description: '`version` and `projects`; also `url`, `commits` or `refs`, `dateStarted` and `dateReleased`.',
    returns: 'The release',
    status: 201,
    ...change,
  }),
  described('GET', release, {
    operation: 'getSentryRelease',
    summary: 'Get a release, for clients of Sentry',
    description: 'With the projects that have it.',
    returns: 'The release',
  }),
  described('PUT', release, {
    operation: 'updateSentryRelease',
    summary: 'Update a release, for Sentry clients',
    description: 'As announcing one; with `projects`, it is announced for them.',
    returns: 'The release',
    ...change,
  }),
  described('DELETE', release, {
    operation: 'deleteSentryRelease',
    summary: 'Delete a release with its source maps',
    description: 'In all projects of the organization in which the caller may change it.',
    returns: 'It is deleted',
    status: 204,
  }),
  described('GET', `${release}previous-with-commits/`, {
    operation: 'getPreviousSentryRelease',
    summary: 'Get the release before another one that has commits',
    description: 'Of the same project.',
    returns: 'The release; an empty object without one',
  }),
  described('GET', '/organizations/:org/chunk-upload/', {
    operation: 'getSentryUploadOptions',
    summary: 'Get the limits of uploading source maps, for clients of Sentry',
    description: 'And the address that takes chunks.',
    returns: 'The limits',
  }),
  described('POST', '/organizations/:org/chunk-upload/', {
    operation: 'uploadSentryChunks',
    summary: 'Upload chunks of bundles of source maps, for Sentry clients',
    description: 'Each is a file `file` or, compressed, `file_gzip`, and named by the SHA-1 of its bytes.',
    returns: 'They are stored',
    body_type: 'multipart/form-data',
    also: { 400: 'A chunk is not what its name says, or too many wait', 413: 'A chunk is longer than 8 MiB' },
  }),
  described('POST', '/organizations/:org/artifactbundle/assemble/', {
    operation: 'assembleSentryBundle',
    summary: 'Assemble a bundle of source maps from chunks, for Sentry clients',
    description: '`checksum`, `chunks` and `projects`; also `version` and `dist`.',
    returns: '`state` is `not_found` (of `missingChunks`), `created`, `ok` or `error`',
    ...change,
  }),
];
