/** Push rules: requirements for pushed commits, files, branches and tags. A project has one, and a group has one as a template. */
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
import { noGroupRule, ofGroup, ofProject, plan } from './access.ts';
import { addRule, changeRule, existsTexts } from './actions.ts';
import { rulesOf } from './queries.ts';
import { changes, fields, ruleNames } from './rules.ts';

const PushRule = resource('PushRule', { id: Id, project_id: Type.Integer(), created_at: Timestamp, ...fields });
const GroupPushRule = resource('GroupPushRule', { id: Id, created_at: Timestamp, ...fields });

const rules = [atLeastOneOf(...ruleNames)];
const missingText = '404 Push rule Not Found';
const reasons = '<field>: not valid RE2 syntax: <reason>';
const orHidden = 'Callers who are not owners, and all without the plan Premium, get 404.';

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
    handle: async ({ db, owner, input }) => ({
      ...(await changeRule(db, owner, input)),
      project_id: owner.project_id!,
    }),
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

const groupRuleRoutes = [
  get('/groups/:id/push_rule', {
    operation: 'getGroupPushRule',
    summary: 'Show the push rule of a group',
    description: `New projects in the group start with a copy of it. ${orHidden}`,
    access: ofGroup,
    returns: one(GroupPushRule),
    handle: async ({ db, owner }) => {
      const rule = await rulesOf(db, owner).executeTakeFirst();
      if (!rule) throw noGroupRule();
      return rule;
    },
  }),
  post('/groups/:id/push_rule', {
    operation: 'createGroupPushRule',
    summary: 'Add a push rule to a group',
    description: orHidden,
    access: ofGroup,
    input: changes,
    rules,
    returns: one(GroupPushRule),
    refusals: { 400: reasons, 422: existsTexts.group },
    handle: ({ db, owner, input }) => addRule(db, owner, input),
  }),
  put('/groups/:id/push_rule', {
    operation: 'updateGroupPushRule',
    summary: 'Update the push rule of a group',
    description: `Existing projects keep theirs. ${orHidden}`,
    access: ofGroup,
    input: changes,
    rules,
    returns: one(GroupPushRule),
    refusals: { 400: reasons, 404: missingText },
    handle: ({ db, owner, input }) => changeRule(db, owner, input),
  }),
  del('/groups/:id/push_rule', {
    operation: 'deleteGroupPushRule',
    summary: 'Delete the push rule of a group',
    description: orHidden,
    access: ofGroup,
    returns: nothing,
    handle: async ({ db, owner }) => {
      const rule = await rulesOf(db, owner).executeTakeFirst();
      if (!rule) throw noGroupRule();
      await deleteFound(db, 'push_rules', rule.id, 'Push rule');
    },
  }),
];

export const pushRuleRoutes = [...projectRuleRoutes, ...groupRuleRoutes];
