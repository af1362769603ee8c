/** The settings of compliance frameworks (docs/reference/pages.md#settings): the frameworks of a group, one with its requirements, and the frameworks of a project. */
import type { Values } from '../../../http/index.ts';
import { type Field, form, hidden, html, type Option, type PageCall, rows, textIn } from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import { controls } from '../../code/compliance_frameworks/index.ts';
import { formOf, part, settingsPage } from '../declared/definition.ts';
import { formPart, reading } from '../declared/form_present.ts';
import { listPart } from '../declared/list_present.ts';
import { dotted, textOf } from '../declared/views.ts';

/** The most frameworks that are offered. */
const offered = 100;

const described = {
  name: { label: 'Name', help: undefined },
  description: { label: 'What it is for', help: undefined },
  color: { label: 'Color', kind: 'color' as const, help: undefined },
  default: { label: 'New projects in the group get it', help: undefined },
};

interface Requirement {
  name: string;
  description: string | null;
  controls: { name: string }[];
}

const requirementsOf = (framework: Values): Requirement[] => framework.requirements as Requirement[];

const frameworksPage = settingsPage('group', 'compliance', [
  listPart('framework', {
    list: 'listComplianceFrameworks',
    intro: 'What projects in the group have to be like. Projects get frameworks in their own settings.',
    names: ({ id }) => ({ framework_id: Number(id) }),
    title: 'name',
    head: (framework, { path }) =>
      html`<a href="${path}_frameworks/${Number(framework.id)}">${textOf(framework, 'name')}</a>`,
    line: (framework) =>
      dotted([
        textOf(framework, 'description'),
        counted(requirementsOf(framework).length, 'requirement'),
        counted(Number(framework.projects_count), 'project'),
        framework.default === true ? 'for new projects' : '',
      ]),
    empty: 'There are no frameworks.',
    create: formOf('createComplianceFramework', described, {
      button: 'Create the framework',
      heading: 'New framework',
    }),
    buttons: {
      remove: {
        runs: 'deleteComplianceFramework',
        label: 'Delete',
        look: 'danger',
        isFor: (framework) => framework.default !== true,
        done: 'The framework is gone, also from its projects.',
      },
    },
  }),
]);

const readFramework = reading('getComplianceFramework');

/** The fields of one more requirement. @param index its place among those of the framework */
const newRequirement = (index: number): readonly Field[] => [
  { name: 'name', label: 'Name', is_required: true, refused_as: [`requirements[${index}][name]`] },
  { name: 'description', label: 'What it is for', refused_as: [`requirements[${index}][description]`] },
  {
    name: 'controls',
    label: 'What a project has to do',
    kind: 'checkboxes',
    options: [...controls.values()].map(({ name, label }) => ({ value: name, label })),
  },
];

const chosenIn = (fields: Values): { name: string }[] =>
  [fields.controls ?? []].flat().map((name) => ({ name: String(name) }));

/** The requirements of a framework, which are changed as a whole. */
const requirementsPart = part({
  forms: {
    add_requirement: {
      runs: 'updateComplianceFramework' as const,
      async takes(call: PageCall, fields: Values) {
        const before = requirementsOf(await readFramework(call));
        const added = { name: textIn(fields, 'name'), description: textIn(fields, 'description') ?? null };
        return { requirements: [...before, { ...added, controls: chosenIn(fields) }] };
      },
    },
    remove_requirement: {
      runs: 'updateComplianceFramework' as const,
      async takes(call: PageCall, fields: Values) {
        const before = requirementsOf(await readFramework(call));
        return { requirements: before.filter(({ name }) => name !== textIn(fields, 'requirement')) };
      },
    },
  },
  done: { add_requirement: 'Added.', remove_requirement: 'Removed.' },
  load: readFramework,
  view: (framework, seen) => html`<h2>Requirements</h2>
${rows(
  requirementsOf(framework).map(
    ({ name, description, controls: chosen }) => html`<strong>${name}</strong>
<div class="soft">${dotted([description ?? '', ...chosen.map((each) => controls.get(each.name)?.label ?? each.name)])}</div>
${form(seen, 'remove_requirement', { fields: [hidden('requirement', name)], button: 'Remove', look: 'danger', key: name })}`,
  ),
  'It has no requirements.',
)}
<h2>New requirement</h2>
${form(seen, 'add_requirement', { fields: newRequirement(requirementsOf(framework).length), button: 'Add the requirement' })}`,
});

const frameworkPage = settingsPage(
  'group',
  'compliance',
  [
    requirementsPart,
    formPart('framework', {
      ...formOf('updateComplianceFramework', described, { heading: 'The framework', button: 'Save changes' }),
      reads: readFramework,
    }),
  ],
  {
    path: '/groups/:id/-/settings/compliance_frameworks/:framework_id',
    titled: async (call) => textOf(await readFramework(call), 'name'),
  },
);

/** The frameworks that a project can have: those of the group at the top. */
async function frameworksFor(call: PageCall): Promise<Option[]> {
  const top = call.params.id!.split('/', 1)[0]!;
  const found = await call.perhaps(call.described('listComplianceFrameworks', { id: top, per_page: offered }));
  const { items } = (found?.reply ?? { items: [] }) as { items: Values[] };
  return items.map(({ id, name, description }) => ({ value: Number(id), label: `${name}: ${description}` }));
}

const projectFrameworksPage = settingsPage('project', 'compliance', [
  formPart('frameworks', {
    ...formOf(
      'setProjectComplianceFrameworks',
      {
        framework_ids: { label: 'Frameworks', kind: 'checkboxes', choices: frameworksFor, help: undefined },
      },
      {
        intro: 'What the group at the top demands of the project.',
        button: 'Save changes',
      },
    ),
    reads: async (call) => {
      const { reply } = await call.described('listProjectComplianceFrameworks');
      return { framework_ids: (reply as { id: number }[]).map(({ id }) => id) };
    },
  }),
]);

export const frameworkPages = [frameworksPage, frameworkPage, projectFrameworksPage];
