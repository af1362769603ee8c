/** A new merge request, at the address printed by `git push`. */
import type { Static } from 'typebox';
import type { Values } from '../../../http/index.ts';
import {
  type Content,
  form,
  type Html,
  hidden,
  html,
  type PageCall,
  page,
  rows,
  type Seen,
} from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import { Branch, blobPage, type Commit, Comparison } from '../../code/repository/index.ts';
import { ProjectWithAccessForm } from '../../spaces/projects/index.ts';
import { mergeRequestFields } from '../../work/merge_requests/index.ts';
import { countsOf } from '../diffs/hunk_rules.ts';
import { type DiffSource, diffPieces, pagesOfDiffs } from '../diffs/views.ts';
import { choicesOf, groupedControls, peopleField, planningFields } from '../issuables/field_present.ts';
import { pathOf } from '../issuables/present.ts';
import { offeredText } from '../issuables/template_queries.ts';
import { branchesFor, ownersAmong } from './branch_queries.ts';
import { toMergeRequest } from './views.ts';

type Project = Static<typeof ProjectWithAccessForm>;

/** The branches in the query: `merge_request[source_branch]` and similar. */
function asked({ query }: Pick<PageCall, 'query'>, name: string): string | undefined {
  const { merge_request } = query as { merge_request?: Values };
  const value = typeof merge_request === 'object' && merge_request !== null ? merge_request[name] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The target project: for a fork, its source. */
const targetOf = (project: Project, wanted: string | undefined): { id: number; path: string } =>
  project.forked_from_project && wanted !== String(project.id)
    ? { id: project.forked_from_project.id, path: project.forked_from_project.path_with_namespace }
    : { id: project.id, path: project.path_with_namespace };

/** The title of a single commit, or the name of the branch in words. */
function titleFor(branch: string, commits: readonly Static<typeof Commit>[]): string {
  if (commits.length === 1) return commits[0]!.title;
  const words = branch.replaceAll(/[-_/]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The body of a single commit's message, below its title. */
const descriptionFor = (commits: readonly Static<typeof Commit>[]): string =>
  commits.length === 1 ? commits[0]!.message.slice(commits[0]!.title.length).trim() : '';

const none = { people: [], labels: [], milestone: null };
/** The maximum number of branches offered. */
const maximumBranches = 100;

async function load(call: PageCall) {
  const project = await call.one(ProjectWithAccessForm, 'getProject');
  const target = targetOf(project, asked(call, 'target_project_id'));
  const { one, list } = call;
  const branchesOf = (id: number) =>
    list(Branch, 'listBranches', { id, per_page: maximumBranches, sort: 'updated_desc' });
  const [own, others, choices] = await Promise.all([
    branchesOf(project.id),
    target.id === project.id ? undefined : branchesOf(target.id),
    choicesOf(call, none),
  ]);
  const targets = others ?? own;
  const { source_branch, target_branch } = await branchesFor(call, {
    project,
    own: own.items,
    targets: targets.items,
    is_same: target.id === project.id,
    wanted: { source: asked(call, 'source_branch'), target: asked(call, 'target_branch') },
  });
  const comparison =
    source_branch !== undefined && target_branch !== undefined
      ? await call.perhaps(
          one(Comparison, 'compareCommits', { from: target_branch, to: source_branch, from_project_id: target.id }),
        )
      : undefined;
  const [offered, reviewers] = comparison
    ? await Promise.all([
        offeredText(call, 'merge_requests', project.merge_requests_template),
        ownersAmong(call, choices.people, {
          project_id: target.id,
          target_branch: target_branch!,
          diffs: comparison.diffs,
        }),
      ])
    : [undefined, []];
  return {
    project,
    target,
    source_branch,
    target_branch,
    sources: own,
    targets,
    choices,
    comparison,
    offered,
    reviewers,
  };
}
type Loaded = Awaited<ReturnType<typeof load>>;

/** A choice of branches; the requested one is included even if there are more. */
function branchSelect(name: string, label: string, branches: Loaded['sources'], chosen: string | undefined): Html {
  const names = branches.items.map((branch) => branch.name);
  const offered = chosen === undefined || names.includes(chosen) ? names : [chosen, ...names];
  return html`<div class="field"><label for="${name}">${label}</label><select id="${name}" name="${`merge_request[${name}]`}">${offered.map(
    (each) => html`<option value="${each}" ?selected="${each === chosen}">${each}</option>`,
  )}</select>${branches.has_more && html`<p class="help">The ${maximumBranches} branches with the last changes.</p>`}</div>`;
}

const branchesView = ({ project, target, source_branch, target_branch, sources, targets }: Loaded, seen: Seen): Html =>
  html`<form method="get" action="${seen.path}" class="filters">
${branchSelect('source_branch', `Source branch in ${project.path_with_namespace}`, sources, source_branch)}
${branchSelect('target_branch', `Target branch in ${target.path}`, targets, target_branch)}
<input type="hidden" name="merge_request[target_project_id]" value="${target.id}">
<button>Compare the branches</button></form>
${otherTarget(project, target.id, seen, source_branch)}`;

/** For a fork, a link to the other possible target project. */
function otherTarget(project: Project, target: number, seen: Seen, source: string | undefined): Content {
  const parent = project.forked_from_project;
  if (!parent) return undefined;
  const other = target === parent.id ? project : parent;
  return html`<p><a href="${addressOf(seen, other.id, source)}">Merge into ${other.path_with_namespace} instead</a></p>`;
}

/** How much there is to review, in words. */
function sizeView({ commits, diffs }: NonNullable<Loaded['comparison']>): Content {
  const counts = diffs.map(({ diff }) => countsOf(diff));
  const sum = (name: 'added' | 'removed') => counts.reduce((total, each) => total + each[name], 0);
  return html`<p><a href="#commits">${counted(commits.length, 'commit')}</a>, <a href="#changes">${counted(diffs.length, 'file')}</a> <span class="counts"><span class="good">+${sum('added')}</span> <span class="bad">−${sum('removed')}</span><span class="visually-hidden"> lines</span></span></p>`;
}

const commitsView = (commits: readonly Static<typeof Commit>[]): Content =>
  html`<h2 id="commits">Commits</h2>${rows(
    commits
      .toReversed()
      .slice(0, 50)
      .map(({ title, short_id, web_url }) => html`<a href="${pathOf(web_url)}">${title}</a> <code>${short_id}</code>`),
    'The source branch has no commits that the target branch lacks.',
  )}${commits.length > 50 && html`<p class="soft">The last 50 of ${commits.length} commits are shown.</p>`}`;

function createForm(
  { target, source_branch, target_branch, choices, comparison, offered, reviewers }: Loaded,
  seen: Seen,
): Content {
  const commits = comparison?.commits ?? [];
  const { others, flags } = groupedControls(mergeRequestFields, { is_new: true, plan: seen.caller?.plan, values: {} });
  return form(seen, 'create', {
    fields: [
      {
        name: 'title',
        label: 'Title',
        is_required: true,
        is_clearable: true,
        maximum: 255,
        value: asked(seen, 'title') ?? titleFor(source_branch!, commits),
        help: 'Draft: before it marks a draft.',
      },
      {
        name: 'description',
        label: 'Description',
        kind: 'markdown',
        value: asked(seen, 'description') ?? offered ?? descriptionFor(commits),
        help: 'Markdown. Closes #1 closes the issue when it is merged.',
      },
      peopleField('assignee_ids', 'Assignees', choices, []),
      peopleField(
        'reviewer_ids',
        reviewers.length > 0 ? 'Reviewers: owners of these files' : 'Reviewers',
        choices,
        reviewers,
      ),
      ...planningFields(choices, none),
      ...others,
      ...flags,
      hidden('source_branch', source_branch),
      hidden('target_branch', target_branch),
      hidden('target_project_id', target.id),
    ],
    button: 'Create the merge request',
    action: addressOf(seen, target.id, source_branch, target_branch),
  });
}

/** The address of the page with its parameters, at which a refused form is shown again. */
function addressOf({ path }: Pick<Seen, 'path'>, target_project_id: number, source = '', target = ''): string {
  const asked = { source_branch: source, target_branch: target, target_project_id: String(target_project_id) };
  const named = Object.entries(asked).map(([name, value]): [string, string] => [`merge_request[${name}]`, value]);
  return `${path}?${new URLSearchParams(named)}`;
}

async function* pieces(shown: Loaded, seen: Seen): AsyncGenerator<Html> {
  const { project, target, source_branch, target_branch, comparison } = shown;
  yield html`${branchesView(shown, seen)}
${source_branch === undefined && html`<p class="soft">There is no branch that could be merged into another one. Push one first.</p>`}
${comparison && sizeView(comparison)}
${source_branch !== undefined && target_branch !== undefined && (createForm(shown, seen) ?? html`<p>You may not create merge requests of this project.</p>`)}
${comparison && commitsView(comparison.commits)}`;
  if (!comparison || comparison.diffs.length === 0) return;
  const fileAt: DiffSource['fileAt'] = (side, path) =>
    side === 'old'
      ? blobPage(target.path, target_branch!, path)
      : blobPage(project.path_with_namespace, source_branch!, path);
  yield* diffPieces({ page: pagesOfDiffs(comparison.diffs), fileAt, owner: project.id }, seen);
}

export const newMergeRequestPage = page('/:id/-/merge_requests/new', {
  signed_in: true,
  load,
  forms: { create: { runs: 'createMergeRequest', next: toMergeRequest } },
  view: (shown, seen) => ({
    title: ['New merge request', shown.project.path_with_namespace],
    place: { id: shown.project.path_with_namespace, kind: 'project', tab: 'merge_requests' },
    main: pieces(shown, seen),
  }),
});
