/** The home page of a project. */
import { setTimeout as sleep } from 'node:timers/promises';
import { projectPage } from '../../../access/index.ts';
import { notFound } from '../../../http/index.ts';
import { linkTarget, type PageCall, page, redirect } from '../../../pages/index.ts';
import { Branch } from '../../code/repository/index.ts';
import { Badge } from '../../spaces/badges/index.ts';
import { ProjectWithAccessForm, Starrer } from '../../spaces/projects/index.ts';
import { homeView, type ProjectHome, type ShownBadge } from './home_views.ts';
import { pushedBranches } from './pushed_queries.ts';
import { refPathOf } from './ref_queries.ts';
import { folderToShow } from './tree_queries.ts';

async function isStarred({ list, caller }: PageCall): Promise<boolean> {
  if (!caller) return false;
  const { items } = await list(Starrer, 'listProjectStarrers', { search: caller.username, per_page: 100 });
  return items.some(({ user }) => user.id === caller.id);
}

/** The displayed part of the code; undefined if it is hidden from the caller. */
async function codeOf(call: PageCall, { default_branch }: ProjectHome['project']): Promise<ProjectHome['code']> {
  if (default_branch === undefined) return undefined;
  const place = await call.perhaps(refPathOf(call, default_branch));
  if (place && place.path === '') return folderToShow(call, place);
  const { items } = await call.list(Branch, 'listBranches', { per_page: 1 });
  return items.length > 0 ? 'other branches' : 'no branches';
}

const isWeb = (address: string): boolean => /^https?:$/.test(URL.parse(address)?.protocol ?? '');

/** The badges of the project and of its groups, with the images that pages may load. */
async function badgesOf({ list, services: { url } }: PageCall): Promise<ShownBadge[]> {
  const { items } = await list(Badge, 'listProjectBadges', { per_page: 100 });
  return items
    .filter(({ rendered_link_url }) => isWeb(rendered_link_url))
    .map(({ name, rendered_link_url: link, rendered_image_url }) => {
      const image = linkTarget(rendered_image_url, url);
      return { name: name || link, link, image: image === rendered_image_url ? undefined : image };
    });
}

/** The maximum number of parts in a project's path. */
const mostParts = 21;

/** The possible paths of the project: `go get` requests packages, whose paths are longer than the project's. */
function pathsOf({ params: { id = '' }, query }: PageCall): string[] {
  if (query['go-get'] !== '1') return [id];
  const parts = id.split('/').slice(0, mostParts);
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('/')).filter((path) => path.includes('/'));
}

/** Counting the languages of a large project goes on, for the next visit, while its page is shown without them. */
const languagesWithin_ms = 100;

async function languagesOf(call: PageCall): Promise<ProjectHome['languages']> {
  const asked = call.perhaps(call.described('listProjectLanguages'));
  const found = await Promise.race([asked, sleep(languagesWithin_ms, undefined, { ref: false })]);
  return Object.entries((found?.reply ?? {}) as Record<string, number>);
}

/** What the visitor pushed and may propose: who may push may do both. */
async function pushedOf(
  { caller, services }: PageCall,
  { id, default_branch, merge_requests_enabled }: ProjectHome['project'],
): Promise<ProjectHome['pushed']> {
  if (!caller || default_branch === undefined || merge_requests_enabled !== true) return [];
  return pushedBranches(services.db, { user_id: caller.id, project_id: id, default_branch });
}

async function projectOf(call: PageCall): Promise<ProjectHome['project']> {
  for (const id of pathsOf(call)) {
    const project = await call.perhaps(call.one(ProjectWithAccessForm, 'getProject', { id }));
    if (project) return project;
  }
  throw notFound('Project');
}

export const projectHomePage = page('/:id', {
  async load(call): Promise<ProjectHome> {
    const { id = '' } = call.params;
    // A single part is the name of a user or a group, or the id of a project.
    if (!id.includes('/')) throw notFound('Page');
    const project = await projectOf(call);
    if (call.query['go-get'] === '1')
      return {
        id: project.path_with_namespace,
        project,
        code: undefined,
        ...{ badges: [], is_starred: false, languages: [], pushed: [] },
      };
    const [code, badges, is_starred, languages, pushed] = await Promise.all([
      codeOf(call, project),
      badgesOf(call),
      isStarred(call),
      languagesOf(call),
      pushedOf(call, project),
    ]);
    return { id: project.path_with_namespace, project, code, badges, is_starred, languages, pushed };
  },
  forms: {
    star: { runs: 'starProject' },
    unstar: { runs: 'unstarProject' },
    // The project says whether it can be asked for, so that its page needs no statement to find out.
    request_access: {
      async act({ described, path }) {
        await described('createProjectAccessRequest');
        return `${path}?requested=1`;
      },
    },
  },
  view: homeView,
});

/** Redirects from the id of a project, which may be all that a client has. */
export const projectNumberPage = redirect('/projects/:id', async ({ one }) => {
  const { path_with_namespace } = await one(ProjectWithAccessForm, 'getProject');
  return projectPage(path_with_namespace);
});
