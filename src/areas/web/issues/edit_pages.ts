/** Editing issues: creating one, and changing all fields of an existing one. */
import type { Static } from 'typebox';
import { issueKind } from '../../../access/index.ts';
import { type Plan, reaches, type Values } from '../../../http/index.ts';
import { type Field, form, html, page, type Seen } from '../../../pages/index.ts';
import { Iteration } from '../../planning/iterations/index.ts';
import { ProjectWithAccessForm } from '../../spaces/projects/index.ts';
import { Issue } from '../../work/issues/index.ts';
import { type Choices, choicesOf, namesOf, peopleField, planningFields } from '../issuables/field_present.ts';
import { editedTexts, presentText } from '../issuables/form_rules.ts';
import { pathIn, pathOf } from '../issuables/present.ts';
import { offeredText } from '../issuables/template_queries.ts';

type ShownIssue = Static<typeof Issue>;

const toIssue = (issue: ShownIssue): string => pathOf(issue.web_url);

const textFields = (given: { title?: string; description?: string | null }): readonly Field[] => [
  { name: 'title', label: 'Title', is_required: true, maximum: 255, value: given.title, is_clearable: true },
  {
    name: 'description',
    label: 'Description',
    kind: 'area',
    value: given.description,
    is_clearable: true,
    help: 'Markdown.',
  },
];

const flagFields = ({ confidential = false }: Partial<ShownIssue>): readonly Field[] => [
  { name: 'confidential', label: 'Confidential: only members can see it', kind: 'checkbox', value: confidential },
];

/** Fields that require a plan which the server may not have. */
const plannedFields = (plan: Plan | undefined, { weight, due_date }: Partial<ShownIssue>): readonly Field[] => [
  { name: 'due_date', label: 'Due date', kind: 'date', value: due_date, is_clearable: true },
  ...(plan && reaches(plan, 'premium')
    ? [{ name: 'weight', label: 'Weight', kind: 'number' as const, value: weight, is_clearable: true as const }]
    : []),
];

/** The values in the query: `issue[title]` and similar. */
function prefilled({ query }: Pick<Seen, 'query'>): Record<string, string> {
  const { issue } = query as { issue?: Values };
  const given = typeof issue === 'object' && issue !== null ? Object.entries(issue) : [];
  return Object.fromEntries(given.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

const none = { people: [], labels: [], milestone: null };

export const newIssuePage = page('/:id/-/issues/new', {
  signed_in: true,
  load: async (call) => {
    await call.list(Issue, 'listProjectIssues', { per_page: 1 });
    const { issues_template } = await call.one(ProjectWithAccessForm, 'getProject');
    const description = await offeredText(call, 'issues', issues_template);
    return {
      id: call.params.id!,
      choices: await choicesOf(call, none),
      offered: description === undefined ? {} : { description },
    };
  },
  forms: { create: { runs: 'createProjectIssue', next: toIssue } },
  view: ({ id, choices, offered }, seen) => ({
    title: ['New issue', id],
    place: { id, kind: 'project', tab: 'issues' },
    main: html`${
      form(seen, 'create', {
        fields: [
          ...textFields({ ...offered, ...prefilled(seen) }),
          peopleField('assignee_ids', 'Assignees', choices, []),
          ...planningFields(choices, none),
          ...plannedFields(seen.caller?.plan, {}),
          ...flagFields({}),
        ],
        button: 'Create the issue',
      }) ?? html`<p>You may not create issues in this project.</p>`
    }`,
  }),
});

type ShownIterations = readonly Static<typeof Iteration>[];

const namedIteration = ({ title, start_date, due_date }: Static<typeof Iteration>) =>
  `${title ?? ''} ${start_date} – ${due_date}`.trim();

/** The fields for iterations, epics and the health status, if available. */
function groupFields(plan: Plan | undefined, issue: ShownIssue, iterations: ShownIterations): readonly Field[] {
  const known = issue.iteration && !iterations.some(({ id }) => id === issue.iteration?.id) ? [issue.iteration] : [];
  const offered = [...known, ...iterations];
  return [
    ...(offered.length > 0
      ? [
          {
            name: 'iteration_id',
            label: 'Iteration',
            kind: 'select' as const,
            value: issue.iteration?.id ?? 0,
            options: [
              { value: 0, label: 'None' },
              ...offered.map((each) => ({ value: each.id, label: namedIteration(each) })),
            ],
          },
        ]
      : []),
    ...(plan && reaches(plan, 'ultimate')
      ? [
          {
            name: 'health_status',
            label: 'Health',
            kind: 'select' as const,
            value: issue.health_status ?? '',
            is_clearable: 'null' as const,
            options: [
              { value: '', label: 'Not said' },
              { value: 'on_track', label: 'On track' },
              { value: 'needs_attention', label: 'Needs attention' },
              { value: 'at_risk', label: 'At risk' },
            ],
          },
        ]
      : []),
  ];
}

const editFields = (
  plan: Plan | undefined,
  issue: ShownIssue,
  choices: Choices,
  iterations: ShownIterations,
): readonly Field[] => [
  ...textFields(issue),
  peopleField('assignee_ids', 'Assignees', choices, issue.assignees),
  ...planningFields(choices, { labels: namesOf(issue.labels), milestone: issue.milestone }),
  ...plannedFields(plan, issue),
  ...groupFields(plan, issue, iterations),
  ...flagFields(issue),
  {
    name: 'discussion_locked',
    label: 'Locked: only members can comment',
    kind: 'checkbox',
    value: issue.discussion_locked ?? false,
  },
];

export const editIssuePage = page('/:id/-/issues/:issue_iid/edit', {
  signed_in: true,
  load: async (call) => {
    const issue = await call.one(Issue, 'getProjectIssue');
    const chosen = { people: issue.assignees, labels: namesOf(issue.labels), milestone: issue.milestone };
    const [choices, iterations] = await Promise.all([
      choicesOf(call, chosen),
      call.perhaps(call.list(Iteration, 'listProjectIterations', { per_page: 100, state: 'opened' })),
    ]);
    return { issue, choices, iterations: iterations?.items ?? [] };
  },
  forms: {
    change: {
      runs: 'updateProjectIssue',
      edits: async ({ one }) => editedTexts(await one(Issue, 'getProjectIssue')),
      next: toIssue,
    },
  },
  view: ({ issue, choices, iterations }, seen) => {
    const full_path = pathIn(issue.references.full);
    return {
      title: [`Edit ${issue.title}`, `#${issue.iid}`, full_path],
      place: { id: full_path, kind: 'project', tab: 'issues' },
      main: html`${
        form(seen, 'change', {
          fields: editFields(seen.caller?.plan, issue, choices, iterations),
          edited: editedTexts(issue),
          button: 'Save',
        }) ?? html`<p>You may not edit this issue.</p>`
      }${presentText(seen, issue.description)}
<p><a href="${issueKind.page(full_path, issue.iid)}">Back to the issue</a></p>`,
    };
  },
});
