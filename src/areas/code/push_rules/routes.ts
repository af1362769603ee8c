/** Push rules: what commits, files, branches and tags must keep to when they are pushed. A project has at most one. */
import { Type } from 'typebox';
import {
  atLeastOneOf,
  del,
  deleteFound,
  found,
  get,
  Id,
  nothing,
  nullable,
  one,
  post,
  put,
  resource,
  Timestamp,
} from '../../../http/index.ts';
import { ofProject, plan } from './access.ts';
import { addRule, changeRule, existsTexts } from './actions.ts';
import { rulesOf } from './queries.ts';
import { changes, fields, ruleNames } from './rules.ts';

const PushRule = resource('PushRule', { id: Id, project_id: Type.Integer(), created_at: Timestamp, ...fields });

const rules = [atLeastOneOf(...ruleNames)];
const missingText = '404 Push rule Not Found';
const reasons = '<field>: not valid RE2 syntax: <reason>';

const projectRuleRoutes = [
  get('/projects/:id/push_rule', {
    operation: 'getProjectPushRule',
    summary: 'Show the push rule of a project',
    description: 'Null when the project has none.',
    access: ofProject,
    plan,
    returns: one(nullable(PushRule)),
    handle: async ({ db, owner }) => {
      const rule = await rulesOf(db, owner).executeTakeFirst();
      return rule ? { ...rule, project_id: owner.project_id! } : null;
    },
  }),
  post('/projects/:id/push_rule', {
    operation: 'createProjectPushRule',
    summary: 'Add a push rule to a project',
    access: ofProject,
    plan,
    input: changes,
    rules,
    returns: one(PushRule),
    refusals: { 400: reasons, 422: existsTexts.project },
    handle: async ({ db, owner, input }) => ({ ...(await addRule(db, owner, input)), project_id: owner.project_id! }),
  }),
  put('/projects/:id/push_rule', {
    operation: 'updateProjectPushRule',
    summary: 'Update the push rule of a project',
    access: ofProject,
    plan,
    input: changes,
    rules,
    returns: one(PushRule),
    refusals: { 400: reasons, 404: missingText },
    handle: async ({ db, owner, input }) => ({ ...(await changeRule(db, owner, input)), project_id: owner.project_id! }),
  }),
  del('/projects/:id/push_rule', {
    operation: 'deleteProjectPushRule',
    summary: 'Delete the push rule of a project',
    access: ofProject,
    plan,
    returns: nothing,
    refusals: { 404: missingText },
    handle: async ({ db, owner }) => {
      const rule = found('Push rule', await rulesOf(db, owner).executeTakeFirst());
      await deleteFound(db, 'push_rules', rule.id, 'Push rule');
    },
  }),
];

export const pushRuleRoutes = projectRuleRoutes;
