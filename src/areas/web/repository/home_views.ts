/** Views of a project's home page. */
import type { Static } from 'typebox';
import { projectPage } from '../../../access/index.ts';
import {
  type Content,
  chip,
  copyButton,
  face,
  facts,
  form,
  type Html,
  html,
  icon,
  menu,
  type Seen,
  time,
  type View,
} from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import { treePage } from '../../code/repository/index.ts';
import type { ProjectWithAccessForm } from '../../spaces/projects/index.ts';
import { newMergeRequestAddress } from '../../work/merge_requests/index.ts';
import { mirrorsPage } from '../settings/mirror_pages.ts';
import {
  branchesPage,
  contributorsPage,
  forksPage,
  networkPage,
  newFilePage,
  newForkPage,
  starrersPage,
  uploadPage,
} from './address_rules.ts';
import type { PushedBranch } from './pushed_queries.ts';
import { folderPage } from './tree_pages.ts';
import type { ShownFolder } from './tree_queries.ts';
import { archiveLinks } from './tree_views.ts';

export interface ShownBadge {
  name: string;
  link: string;
  /** Undefined for an image on another server, which pages do not load. */
  image: string | undefined;
}

export interface ProjectHome {
  id: string;
  project: Static<typeof ProjectWithAccessForm>;
  /**
   * The root folder of the default branch, or the reason why there is none. Undefined for callers who may not see the
   * code.
   */
  code: ShownFolder | 'other branches' | 'no branches' | undefined;
  badges: readonly ShownBadge[];
  is_starred: boolean;
  /** The languages with their shares in percent, the largest first; none while they are being counted. */
  languages: readonly (readonly [name: string, percent: number])[];
  /** The branches that the visitor may want a merge request for. */
  pushed: readonly PushedBranch[];
}

const badgesView = (badges: readonly ShownBadge[]): Content =>
  badges.length > 0 &&
  html`<p class="actions">${badges.map(
    ({ name, link, image }) =>
      html`<a href="${link}" rel="nofollow">${image === undefined ? name : html`<img src="${image}" alt="${name}">`}</a>`,
  )}</p>`;

/** Instructions for pushing to an empty repository. */
function firstPush(
  { id, project: { http_url_to_repo, path, default_branch = 'main' } }: ProjectHome,
  { caller }: Seen,
): Content {
  return html`<h2>The repository is empty</h2>
${caller && html`<p>Write <a href="${newFilePage(id, default_branch)}">a first file</a> or <a href="${uploadPage(id, default_branch)}">upload files</a> here, or push them.</p>`}
<p>Clone it, add a file and push:</p>
<pre>git clone ${http_url_to_repo}
cd ${path}
git switch --create ${default_branch}
echo "# ${path}" > README.md
git add README.md
git commit --message "Add a README"
git push --set-upstream origin ${default_branch}</pre>
<p>Or push a repository that exists:</p>
<pre>git remote add origin ${http_url_to_repo}
git push --set-upstream origin --all
git push origin --tags</pre>`;
}

function codeView(home: ProjectHome, seen: Seen): Content {
  const { id, project, code } = home;
  if (code === undefined) return html`<p class="soft">You may not see the code of this project.</p>`;
  if (code === 'no branches') return firstPush(home, seen);
  if (code === 'other branches')
    return html`<p class="soft">The default branch ${project.default_branch} does not exist. <a href="${branchesPage(id)}">All branches</a></p>`;
  return folderPage(code, seen, cloneMenu(home));
}

/** The addresses of the repository, and its archives. */
function cloneMenu({ project, code }: ProjectHome): Content {
  const address = (name: string, value: string) =>
    value !== '' &&
    html`<label for="${`clone-${name}`}">${name}</label><div class="bar"><input type="text" id="${`clone-${name}`}" readonly value="${value}">${copyButton(value, `Copy the address for ${name}`)}</div>`;
  return menu(
    html`${icon('code')}Clone`,
    html`${address('HTTP', project.http_url_to_repo)}${address('SSH', project.ssh_url_to_repo)}${typeof code === 'object' && archiveLinks(code.place)}`,
    { look: 'primary' },
  );
}

/** The languages that have a colour of their own. */
const colours = ['#3178c6', '#c2571a', '#2f8f4e', '#8a4fbf', '#b8860b', '#7c8780'];

/** The shares of languages, as a bar and in words. */
function languagesView(languages: ProjectHome['languages']): Content {
  if (languages.length === 0) return undefined;
  const named = languages.slice(0, colours.length - 1);
  const rest = 100 - named.reduce((sum, [, percent]) => sum + percent, 0);
  const shares = rest < 0.1 ? named : [...named, ['Others', rest] as const];
  const ends = shares.map((_, index) => shares.slice(0, index + 1).reduce((sum, [, percent]) => sum + percent, 0));
  return html`<h3>Languages</h3>
<svg aria-hidden="true" width="100%" height="8">${shares.map(
    ([, percent], index) =>
      html`<rect x="${`${((ends[index] ?? 0) - percent).toFixed(2)}%`}" width="${`${percent.toFixed(2)}%`}" height="8" fill="${colours[index]}"/>`,
  )}</svg>
<p class="soft">${shares.map(
    ([name, percent], index) =>
      html`<svg aria-hidden="true" width="8" height="8"><circle cx="4" cy="4" r="4" fill="${colours[index]}"/></svg> ${name} ${percent.toFixed(1)} % `,
  )}</p>`;
}

/** What the visitor has just pushed, and the next step. */
const pushedView = ({ id, pushed }: ProjectHome): Content =>
  pushed.map(
    ({ name, pushed_at }) =>
      html`<div class="notice bar"><span class="grow">You pushed <a href="${treePage(id, name)}">${name}</a> ${time(pushed_at)}.</span><a class="button" href="${newMergeRequestAddress(id, { source_branch: name })}">Create merge request</a></div>
`,
  );

/** Whether the visitor is no member, directly or through a group, and may ask to become one. */
const mayAsk = ({ permissions, request_access_enabled }: ProjectHome['project']): boolean =>
  request_access_enabled === true && !permissions?.project_access && !permissions?.group_access;

/** The path of a Go module, and the address of its repository. */
const goImport = ({ web_url, http_url_to_repo }: ProjectHome['project']): string =>
  `${web_url.replace(/^https?:\/\//, '')} git ${http_url_to_repo}`;

/** What the project is, beside its files. */
function aboutView({ id, project, code, badges, is_starred, languages }: ProjectHome, seen: Seen): Html {
  const star = html`${icon('star')}${is_starred ? 'Remove the star' : 'Star'}`;
  return html`<section aria-labelledby="about"><h2 id="about">About</h2>
${project.description && html`<p>${project.description}</p>`}
${badgesView(badges)}
<div class="actions">${form(seen, is_starred ? 'unstar' : 'star', { button: star, look: 'plain' })}
<a class="button" href="${starrersPage(id)}">${counted(project.star_count, 'star')}</a></div>
${
  project.forks_count !== undefined &&
  html`<div class="actions">${seen.caller && html`<a class="button" href="${newForkPage(id)}">${icon('fork')}Fork</a>`}<a class="button" href="${forksPage(id)}">${counted(project.forks_count, 'fork')}</a></div>`
}
<div class="actions">${chip(project.visibility)}${project.archived && chip('archived')}
${project.topics.map((topic) => chip(topic))}</div>
${facts([
  [
    'Forked from',
    project.forked_from_project &&
      html`<a href="${`/${project.forked_from_project.path_with_namespace}`}">${project.forked_from_project.name_with_namespace}</a>`,
  ],
  [
    'History',
    typeof code === 'object' &&
      html`<a href="${contributorsPage(id, code.place.ref)}" rel="nofollow">Contributors</a>, <a href="${networkPage(id, code.place.ref)}" rel="nofollow">network</a>`,
  ],
  ['Last activity', time(project.last_activity_at)],
  // Maintainers see the mirror source of the project, and manage its mirrors.
  ['Mirrors', project.import_url !== undefined && html`<a href="${mirrorsPage(id)}">Of the repository</a>`],
])}
${languagesView(languages)}
${seen.caller && mayAsk(project) && form(seen, 'request_access', { button: 'Request access', look: 'plain' })}</section>`;
}

export function homeView(home: ProjectHome, seen: Seen): View {
  const { id, project } = home;
  if (seen.query['go-get'] === '1')
    return {
      title: [project.name, project.namespace.full_path],
      metadata: { 'go-import': goImport(project) },
      main: html`<p>Go modules of <a href="${projectPage(id)}">${id}</a> are read from its repository.</p>`,
    };
  return {
    title: [project.name, project.namespace.full_path],
    place: { id, kind: 'project', tab: 'code' },
    ...(project.visibility === 'public' && !seen.caller ? { is_public: true as const } : {}),
    heading: html`${face(project, 'square')}${project.name}`,
    main: html`<div class="columns"><div>
${project.marked_for_deletion_on && html`<p class="notice">This project will be deleted after ${project.marked_for_deletion_on}.</p>`}
${seen.query.requested !== undefined && html`<p class="notice" role="status">You have asked for access. The maintainers decide.</p>`}
${pushedView(home)}${codeView(home, seen)}</div>
${aboutView(home, seen)}</div>`,
  };
}
