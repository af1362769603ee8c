/** Editing issues: creating one, and changing all fields of an existing one. */
import type { Static } from 'typebox';
import { issueKind } from '../../../access/index.ts';
import { pick } from '../../../fields/index.ts';
import type { Plan, Values } from '../../../http/index.ts';
import { type Field, form, html, page, type Seen } from '../../../pages/index.ts';
import { ProjectWithAccessForm } from '../../spaces/projects/index.ts';
import { Issue, issueFields } from '../../work/issues/index.ts';
import {
  type Choices,
  choicesOf,
  groupedControls,
  namesOf,
  peopleField,
  planningFields,
} from '../issuables/field_present.ts';
import { editedTexts, presentText } from '../issuables/form_rules.ts';
import { pathIn, pathOf } from '../issuables/present.ts';
import { offeredText } from '../issuables/template_queries.ts';
import { type Iterations, iterationOptions, iterationsToChoose } from './property_present.ts';

type ShownIssue = Static<typeof Issue>;

const toIssue = (issue: ShownIssue): string => pathOf(issue.web_url);

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
  view: ({ id, choices, offered }, seen) => {
    const values = { ...offered, ...pick(prefilled(seen), ['title', 'description']) };
    const { texts, others, flags } = groupedControls(issueFields, { is_new: true, plan: seen.caller?.plan, values });
    return {
      title: ['New issue', id],
      place: { id, kind: 'project', tab: 'issues' },
      main: html`${
        form(seen, 'create', {
          fields: [
            ...texts,
            peopleField('assignee_ids', 'Assignees', choices, []),
            ...planningFields(choices, none),
            ...others,
            ...flags,
          ],
          button: 'Create the issue',
        }) ?? html`<p>You may not create issues in this project.</p>`
      }`,
    };
  },
});

function editFields(
  plan: Plan | undefined,
  issue: ShownIssue,
  choices: Choices,
  iterations: Iterations,
): readonly Field[] {
  const { texts, others, flags } = groupedControls(issueFields, {
    is_new: false,
    plan,
    values: { ...issue, iteration_id: issue.iteration?.id ?? 0 },
    options: { iteration_id: iterationOptions(issue, iterations) },
  });
  return [
    ...texts,
    peopleField('assignee_ids', 'Assignees', choices, issue.assignees),
    ...planningFields(choices, { labels: namesOf(issue.labels), milestone: issue.milestone }),
    ...others,
    ...flags,
  ];
}

export const editIssuePage = page('/:id/-/issues/:issue_iid/edit', {
  signed_in: true,
  load: async (call) => {
    const issue = await call.one(Issue, 'getProjectIssue');
    const chosen = { people: issue.assignees, labels: namesOf(issue.labels), milestone: issue.milestone };
    const [choices, iterations] = await Promise.all([choicesOf(call, chosen), iterationsToChoose(call)]);
    return { issue, choices, iterations };
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
