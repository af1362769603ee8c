/** Search everywhere, in a group or in a project (docs/reference/search.md). */
import { type TSchema, Type } from 'typebox';
import { groupRole, projectRole, signedIn } from '../../../access/index.ts';
import { type AnyEndpoint, badParams, get, pageInOneOf, type Services } from '../../../http/index.ts';
import { isByKey, keysetUnavailable } from '../../../lists/index.ts';
import { isLonger } from '../../../texts/index.ts';
import { blobScope, wikiScope } from './code_git.ts';
import { commitScope } from './commit_git.ts';
import type { Level, Scope, Search } from './definition.ts';
import { epicScope, issueScope, mergeRequestScope, refuseFilters } from './issuable_queries.ts';
import { searchInput } from './parameters.ts';
import { userScope } from './people_queries.ts';
import { milestoneScope, noteScope, projectScope, snippetScope } from './text_queries.ts';
import { findTexts, timedOutText } from './time_queries.ts';

const scopes: Readonly<Record<string, Scope>> = {
  projects: projectScope,
  issues: issueScope,
  work_items: issueScope,
  merge_requests: mergeRequestScope,
  milestones: milestoneScope,
  users: userScope,
  snippet_titles: snippetScope,
  epics: epicScope,
  notes: noteScope,
  commits: commitScope,
  blobs: blobScope,
  wiki_blobs: wikiScope,
};

const maximumSearch_chars = 4096;
const maximumTerms = 64;

/** @throws ApiError 400 */
function refuseLong(search: string): void {
  if (isLonger(search, maximumSearch_chars))
    throw badParams(`search is too long (maximum is ${maximumSearch_chars} characters)`);
  if (search.trim().split(/\s+/).length > maximumTerms)
    throw badParams(`search has too many terms (maximum is ${maximumTerms})`);
}

const rate = {
  setting: 'search_rate_limit',
  anonymous: 'search_rate_limit_unauthenticated',
  window_s: 60,
} as const;

/** The declaration shared by all levels. */
function declarationFor(level: Level) {
  const names = Object.keys(scopes).filter((name) => scopes[name]!.levels.includes(level));
  const forms = [...new Set(names.flatMap((name) => scopes[name]!.forms))];
  return {
    input: { scope: Type.Enum(names, { description: 'What to find' }), ...searchInput },
    rate,
    returns: pageInOneOf<TSchema>(forms, {
      'X-Search-Incomplete': '`true` if there was no time to search everything',
    }),
    refusals: {
      400: ['<parameter> is supported only for <scopes>', 'Code search is switched off'],
      404: '404 Reference Not Found',
      405: 'Keyset pagination is not yet available for this type of request',
      408: timedOutText,
      503: '503 Service Unavailable - Too many searches are running',
    },
  };
}

function find(services: Services, scope: string, search: Search) {
  refuseLong(search.input.search);
  refuseFilters(scope, search.input);
  const sought = scopes[scope]!;
  if ('project' in search.within) sought.check?.(search.within.project);
  if (!sought.ends_itself) return findTexts(sought, services, search);
  if (isByKey(search.input)) throw keysetUnavailable();
  return sought.find(services, search);
}

const everywhere = get('/search', {
  operation: 'listSearchResults',
  summary: 'Search everything that the caller may read',
  access: signedIn,
  ...declarationFor('global'),
  handle: ({ caller, plan, input: { scope, ...input }, ...services }) =>
    find(services, scope, { caller, plan, within: { everywhere: true }, input }),
});

const inGroup = (path: string, operation: string) =>
  get(path, {
    operation,
    summary: 'Search a group and what is below it',
    access: groupRole('guest'),
    ...declarationFor('group'),
    handle: ({ caller, group, plan, input: { scope, ...input }, ...services }) =>
      find(services, scope, { caller, plan, within: { group }, input }),
  });

const inProject = (path: string, operation: string) =>
  get(path, {
    operation,
    summary: 'Search a project',
    access: projectRole('guest'),
    ...declarationFor('project'),
    handle: ({ caller, project, plan, input: { scope, ...input }, ...services }) =>
      find(services, scope, { caller, plan, within: { project }, input }),
  });

export const searchRoutes: readonly AnyEndpoint[] = [
  everywhere,
  inGroup('/groups/:id/search', 'listGroupSearchResults'),
  inGroup('/groups/:id/-/search', 'listGroupSearchResultsAtPage'),
  inProject('/projects/:id/search', 'listProjectSearchResults'),
  inProject('/projects/:id/-/search', 'listProjectSearchResultsAtPage'),
];
