/** Who may open which page: every page, opened as every persona, and the endpoint that must admit the same. It is a part of docs/access.txt. */
import { pages } from '../../src/areas/pages.ts';
import { anonymousBrowser, type Browser, browserOf } from './browser.ts';
import type { Persona } from './populate.ts';
import { type ShownWorld, valuesFor } from './shown_world.ts';

export const personas = [
  'anonymous',
  'outsider',
  'guest',
  'planner',
  'reporter',
  'developer',
  'maintainer',
  'owner',
  'admin',
] as const satisfies readonly (Persona | 'anonymous')[];

const project = '/projects/:id';
const repository = `${project}/repository`;
const group = '/groups/:id';
const issue = `${project}/issues/:issue_iid`;
const merge_request = `${project}/merge_requests/:merge_request_iid`;

/** What the API shows to those who may open a page. Pages that everyone may open, or everyone who is signed in, have none. */
const shownBy: Readonly<Record<string, string>> = {
  '/:id/-/tree/*ref_path': `${repository}/tree?path=docs`,
  '/:id/-/blob/*ref_path': `${repository}/files/docs%2Fpick.md/raw`,
  '/:id/-/raw/*ref_path': `${repository}/files/docs%2Fpick.md/raw`,
  '/:id/-/network/*ref_path': `${repository}/commits`,
  '/:id/-/graphs/*ref_path': `${repository}/contributors`,
  '/:id/-/forks': `${project}/forks`,
  '/:id/-/forks/new': project,
  '/:id/-/starrers': `${project}/starrers`,
  '/:id/-/activity': `${project}/events`,
  '/:id/-/find_file/*ref_path': `${repository}/tree`,
  '/:id/-/switch/:word/*ref_path': `${repository}/files/docs%2Fpick.md/raw`,
  '/:id/-/blame/*ref_path': `${repository}/files/docs%2Fpick.md/raw`,
  '/:id/-/blame_before/:sha/*file_path': `${repository}/files/docs%2Fpick.md/raw`,
  '/:id/-/edit/*ref_path': `${repository}/files/docs%2Fpick.md/raw`,
  '/:id/-/delete/*ref_path': `${repository}/files/docs%2Fpick.md/raw`,
  '/:id/-/new/*ref_path': `${repository}/tree?path=docs`,
  '/:id/-/upload/*ref_path': `${repository}/tree?path=docs`,
  '/:id/-/create_dir/*ref_path': `${repository}/tree?path=docs`,
  '/:id/-/archive/*name': `${repository}/archive.zip`,
  '/:id/-/commits/*ref_path': `${repository}/commits`,
  '/:id/-/commits': `${repository}/commits`,
  '/:id/-/commit/:commit_id': `${repository}/commits/:commit_id`,
  '/:id/-/commit/:commit_id/cherry_pick': `${repository}/commits/:commit_id`,
  '/:id/-/commit/:commit_id/revert': `${repository}/commits/:commit_id`,
  '/:id/-/compare/*refs': `${repository}/compare?from=main&to=topic`,
  '/:id/-/compare': `${repository}/compare?from=main&to=topic`,
  '/:id/-/branches': `${repository}/branches`,
  '/:id/-/tags/*tag_name': `${repository}/tags/:tag_name`,
  '/:id/-/tags': `${repository}/tags`,
  '/projects/:id': project,
  '/:id': project,
  '/:id/-/uploads/new': project,
  '/:id/-/suggestions': project,
  '/groups/:id/-/uploads/new': group,
  '/groups/:id/-/suggestions': group,
  '/:id/-/issues': `${project}/issues`,
  '/:id/-/issues/new': `${project}/issues`,
  '/:id/-/issues/:issue_iid/edit': issue,
  '/:id/-/issues/:issue_iid/move': issue,
  '/:id/-/issues/:issue_iid/delete': issue,
  '/:id/-/issues/:issue_iid': issue,
  '/:id/-/boards': `${project}/boards`,
  '/:id/-/boards/:board_id/edit': `${project}/boards/:board_id`,
  '/groups/:id/-/boards/:board_id/edit': `${group}/boards/:board_id`,
  '/:id/-/boards/:board_id': `${project}/boards/:board_id`,
  '/groups/:id/-/boards': `${group}/boards`,
  '/groups/:id/-/boards/:board_id': `${group}/boards/:board_id`,
  '/:id/-/merge_requests': `${project}/merge_requests`,
  '/:id/-/merge_requests/new': `${repository}/branches`,
  '/:id/-/merge_requests/:merge_request_iid/edit': merge_request,
  '/:id/-/merge_requests/:merge_request_iid/delete': merge_request,
  '/:id/-/merge_requests/:merge_request_iid/commits': `${merge_request}/commits`,
  '/:id/-/merge_requests/:merge_request_iid/conflicts': merge_request,
  '/:id/-/merge_requests/:merge_request_iid/pipelines': `${merge_request}/pipelines`,
  '/:id/-/merge_requests/:merge_request_iid/approval_rules': merge_request,
  '/:id/-/merge_requests/:merge_request_iid/related': `${merge_request}/related_issues`,
  '/:id/-/merge_requests/:merge_request_iid/diffs': `${merge_request}/diffs`,
  '/:id/-/merge_requests/:merge_request_iid.diff': `${merge_request}/raw_diffs`,
  '/:id/-/merge_requests/:merge_request_iid': merge_request,
  '/groups/:id/-/wikis': `${group}/wikis`,
  '/groups/:id/-/wikis/pages': `${group}/wikis`,
  '/groups/:id/-/wikis/new': `${group}/wikis`,
  '/groups/:id/-/wikis/*slug/edit': `${group}/wikis/:slug`,
  '/groups/:id/-/wikis/*slug': `${group}/wikis/:slug`,
  '/:id/-/wikis': `${project}/wikis`,
  '/:id/-/wikis/pages': `${project}/wikis`,
  '/:id/-/wikis/new': `${project}/wikis`,
  '/:id/-/wikis/*slug/edit': `${project}/wikis/:slug`,
  '/:id/-/wikis/*slug': `${project}/wikis/:slug`,
  '/groups/:id': group,
  '/groups/:id/-/epics/:epic_iid/delete': `${group}/epics/:epic_iid`,
  '/groups/:id/-/epics/:epic_iid': `${group}/epics/:epic_iid`,
  '/groups/:id/-/epics': `${group}/epics`,
  '/groups/:id/-/iterations/:iteration_id': `${group}/iterations`,
  '/:id/-/milestones/:milestone_iid': `${project}/milestones`,
  '/groups/:id/-/milestones/:milestone_iid': `${group}/milestones`,
  '/:id/-/snippets/:snippet_id': `${project}/snippets/:snippet_id`,
  '/:id/-/snippets/:snippet_id/raw': `${project}/snippets/:snippet_id/raw`,
  '/:id/-/snippets/:snippet_id/raw/:ref/*file_path': `${project}/snippets/:snippet_id/files/:ref/:file_path/raw`,
  '/:id/-/snippets': `${project}/snippets`,
  '/-/snippets/:id': '/snippets/:id',
  '/-/snippets/:id/raw': '/snippets/:id/raw',
  '/-/snippets/:id/raw/:ref/*file_path': '/snippets/:id/files/main/note.md/raw',
  '/:id/-/error_tracking/:error_id/details': `${project}/error_tracking/errors/:error_id`,
  '/:id/-/error_tracking': `${project}/error_tracking/errors`,
  '/:id/-/security/vulnerabilities/:vulnerability_id': `${project}/vulnerabilities/:vulnerability_id`,
  '/:id/-/security/vulnerabilities': `${project}/vulnerabilities`,
  '/:id/-/dependencies': `${project}/dependencies`,
  '/groups/:id/-/releases': `${group}/releases`,
  '/:id/-/jobs': `${project}/jobs`,
  '/:id/-/error_tracking/releases': `${project}/error_tracking/releases_health`,
  '/groups/:id/-/dependencies': `${group}/dependencies`,
  '/:id/-/dependencies/:export_uuid': `${project}/dependencies`,
  // Members are for those who are signed in, the other lists of the page for all.
  '/:id/-/project_members': `${project}/invited_groups`,
  '/groups/:id/-/group_members': `${group}/invited_groups`,
  '/admin/geo/nodes/:id/edit': '/geo_nodes/:id',
  '/admin/geo/nodes/:id/replication/*kind': '/geo_nodes/:id/status',
  '/admin/geo/sites/:id/edit': '/geo_sites/:id',
  '/admin/geo/sites/:id/replication/*kind': '/geo_sites/:id/status',
  '/import/bulk_imports/:id/history': '/bulk_imports/:id',
};

/** A page as it was opened by all personas. */
export interface OpenedPage {
  path: string;
  signed_in: boolean;
  /** What it answers: `ok`, `to` another page, `ask` for the sign-in, or a status; in the order of the personas. */
  outcomes: readonly string[];
  /** The path of the endpoint that shows the same, and its statuses in the same order. */
  shown_by: { path: string; statuses: readonly number[] } | undefined;
}

export type Browsers = ReadonlyMap<(typeof personas)[number], Browser>;

/** A browser for each persona. */
export async function browsersOf(here: ShownWorld): Promise<Browsers> {
  const opened = personas.map(
    async (persona) =>
      [
        persona,
        persona === 'anonymous' ? anonymousBrowser(here.url) : await browserOf(here, here.people[persona]),
      ] as const,
  );
  return new Map(await Promise.all(opened));
}

async function outcomeOf(browser: Browser, address: string): Promise<string> {
  const { status, to } = await browser.get(address);
  if (status === 302) return to!.startsWith('/users/sign_in?to=') ? 'ask' : 'to';
  return status === 200 ? 'ok' : String(status);
}

async function statusesOf(here: ShownWorld, page: string, path: string): Promise<number[]> {
  const values = valuesFor(here, page);
  const url = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name]!));
  return Promise.all(personas.map(async (persona) => (await here.as(persona).get(url)).status));
}

async function openAll(here: ShownWorld, browsers: Browsers): Promise<OpenedPage[]> {
  const opened: OpenedPage[] = [];
  for (const { path, signed_in = false } of pages) {
    const address = here.addresses.get(path)!;
    const outcomes = await Promise.all(personas.map((persona) => outcomeOf(browsers.get(persona)!, address)));
    const shown = shownBy[path];
    const shown_by = shown === undefined ? undefined : { path: shown, statuses: await statusesOf(here, path, shown) };
    opened.push({ path, signed_in, outcomes, shown_by });
  }
  return opened;
}

/** Makes the project and the group of a world visible to all. */
export async function publish({ as, project: { id }, group: { id: group_id } }: ShownWorld): Promise<void> {
  await as('owner').put(`/groups/${group_id}`, { visibility: 'public' });
  await as('owner').put(`/projects/${id}`, { visibility: 'public' });
}

/** All pages, as they were opened in a private project and group, and then in public ones. */
export interface OpenedPages {
  hidden: readonly OpenedPage[];
  shown: readonly OpenedPage[];
}

/**
 * Opens every page as every persona.
 * @param here becomes public
 */
export async function openPages(here: ShownWorld, browsers: Browsers): Promise<OpenedPages> {
  const hidden = await openAll(here, browsers);
  await publish(here);
  return { hidden, shown: await openAll(here, browsers) };
}

/** Room for the longest path of a page. */
const pathWidth = 60;

function tableOf(title: string, opened: readonly OpenedPage[]): string {
  const head = `${' '.repeat(pathWidth)}${personas.map((persona) => persona.slice(0, 5).padEnd(6)).join('')}as`;
  const rows = opened.map(({ path, outcomes, shown_by }) =>
    `${path.padEnd(pathWidth)}${outcomes.map((each) => each.padEnd(6)).join('')}${shown_by?.path ?? ''}`.trimEnd(),
  );
  return [title, head, ...rows].join('\n');
}

/** The table of the pages. */
export function pageTable({ hidden, shown }: OpenedPages): string {
  const legend =
    'Pages: "ask" leads to the sign-in, "to" to another page. "as" names what the API shows to the same people, apart from pages for those who are signed in.';
  return [
    legend,
    tableOf('Pages of a private project or group', hidden),
    `${tableOf('Pages of a public project or group', shown)}\n`,
  ].join('\n\n');
}
