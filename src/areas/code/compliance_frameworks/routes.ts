/** Compliance frameworks of top-level groups and their projects (docs/reference/compliance_frameworks.md). */
import { Type } from 'typebox';
import {
  allOptional,
  del,
  get,
  Id,
  listOf,
  nothing,
  nullable,
  one,
  optional,
  pageOf,
  post,
  put,
} from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { manager, onlyRootText, plan, projectManager, projectReader, reader } from './access.ts';
import { changeFramework, createFramework, defaultStaysText, deleteFramework, setFrameworks } from './actions.ts';
import { ComplianceFramework, frameworkOf, frameworksOf, frameworksOfProject } from './queries.ts';
import { defaultColor, mostFrameworks, takenText } from './rules.ts';

const base = '/groups/:id/compliance_frameworks';
const ofProject = '/projects/:id/compliance_frameworks';
const single = { framework_id: Id };
const mostOfProject = 20;
const unknown = { 404: '404 Compliance Framework Not Found' };

const values = {
  name: Type.String({ description: 'At most 255 characters; no other framework of the group has it' }),
  description: Type.String({ description: 'At most 255 characters' }),
};
const rest = {
  color: optional(Type.String({ description: '`#rrggbb`', default: defaultColor })),
  default: optional(Type.Boolean({ description: 'New projects in the group get it; it replaces the former default' })),
  requirements: optional(
    Type.Array(
      Type.Object({
        name: Type.String(),
        description: Type.Optional(nullable(Type.String())),
        controls: Type.Array(Type.Object({ name: Type.String() }), { maxItems: 50 }),
      }),
      { description: 'At most 50; they replace the former ones' },
    ),
  ),
};

const reasons = [
  onlyRootText,
  takenText,
  `Maximum number of frameworks (${mostFrameworks}) exceeded`,
  '<Parameter> <reason>',
  '<several reasons, with commas between them>',
];

export const complianceFrameworkRoutes = [
  get(base, {
    operation: 'listComplianceFrameworks',
    summary: 'List the compliance frameworks of a top-level group, by name',
    access: reader,
    plan,
    input: paging,
    returns: pageOf(ComplianceFramework),
    refusals: { 400: onlyRootText },
    handle: ({ db, group, input }) => paginate(db, frameworksOf(db, group.id), input),
  }),
  get(`${base}/:framework_id`, {
    operation: 'getComplianceFramework',
    summary: 'Get a compliance framework',
    access: reader,
    plan,
    input: single,
    returns: one(ComplianceFramework),
    refusals: { 400: onlyRootText, ...unknown },
    handle: ({ db, group, input }) => frameworkOf(db, group.id, input.framework_id),
  }),
  post(base, {
    operation: 'createComplianceFramework',
    summary: 'Create a compliance framework',
    access: manager,
    plan,
    input: { ...values, ...rest },
    returns: one(ComplianceFramework),
    refusals: { 400: reasons },
    handle: ({ change, input: { color = defaultColor, requirements = [], ...given } }) =>
      change((tx, { group }) => createFramework(tx, group.id, { ...given, color, requirements })),
  }),
  put(`${base}/:framework_id`, {
    operation: 'updateComplianceFramework',
    summary: 'Update a compliance framework',
    access: manager,
    plan,
    input: { ...single, ...allOptional(values), ...rest },
    returns: one(ComplianceFramework),
    refusals: { 400: reasons, ...unknown },
    handle: ({ change, input: { framework_id, ...given } }) =>
      change((tx, { group }) => changeFramework(tx, group.id, framework_id, given)),
  }),
  del(`${base}/:framework_id`, {
    operation: 'deleteComplianceFramework',
    summary: 'Delete a compliance framework, which its projects lose',
    access: manager,
    plan,
    input: single,
    returns: nothing,
    refusals: { 400: [onlyRootText, defaultStaysText], ...unknown },
    handle: ({ change, input }) => change((tx, { group }) => deleteFramework(tx, group.id, input.framework_id)),
  }),
  get(ofProject, {
    operation: 'listProjectComplianceFrameworks',
    summary: 'List the compliance frameworks of a project, by name',
    access: projectReader,
    plan,
    returns: listOf(ComplianceFramework),
    handle: ({ db, project }) => frameworksOfProject(db, project.id).execute(),
  }),
  put(ofProject, {
    operation: 'setProjectComplianceFrameworks',
    summary: 'Replace the compliance frameworks of a project',
    access: projectManager,
    plan,
    input: {
      framework_ids: Type.Array(Id, {
        description: 'Frameworks of its top-level group, at most 20',
        maxItems: mostOfProject,
      }),
    },
    returns: listOf(ComplianceFramework),
    refusals: unknown,
    handle: ({ change, input }) =>
      change(async (tx, { project }) => {
        await setFrameworks(tx, project.id, input.framework_ids);
        return frameworksOfProject(tx, project.id).execute();
      }),
  }),
];
