/** Tests a push rule on existing commits of a project before it is set. */
import { type Static, Type } from 'typebox';
import type { Project } from '../../../access/index.ts';
import { newestRange, type Repository, repositoryOf, resolveBranch, resolveCommit } from '../../../git/index.ts';
import {
  badRequest,
  found,
  nullable,
  one,
  optional,
  post,
  resource,
  type Services,
  withStatus,
} from '../../../http/index.ts';
import { codeChecker, plan } from './access.ts';
import { checkExpressions } from './actions.ts';
import { CheckFailed, findingsOf, type Question } from './checks.ts';
import { rulesOf } from './queries.ts';
import { changes, noRule, type Rule, type RuleChanges, ruleNames, texts } from './rules.ts';

const maximumListed = 100;

const PushRuleCheck = resource('PushRuleCheck', {
  checked: Type.Object({
    commits: Type.Integer(),
    files: Type.Integer({ description: 'Files that these commits add' }),
  }),
  violations: Type.Array(
    Type.Object({
      rule: Type.Enum(ruleNames),
      commit_id: nullable(Type.String()),
      file_path: nullable(Type.String()),
      message: Type.String(),
    }),
    { description: `The first ${maximumListed}` },
  ),
  violations_count: Type.Integer(),
});

interface Trial {
  project: Project;
  ref: string | undefined;
  commits: number;
  given: RuleChanges;
}

/** The stored rule, overridden by the given fields. */
async function triedRule({ db }: Services, project: Project, given: RuleChanges): Promise<Rule> {
  const stored = await rulesOf(db, { project_id: project.id, group_id: null }).executeTakeFirst();
  return { ...noRule, ...stored, ...given };
}

/** The check for a hypothetical push of the newest commits of a ref. */
async function questionOf(services: Services, repository: Repository, { project, ref, commits, given }: Trial) {
  const name = ref ?? project.default_branch;
  // An empty project has no commits on its default branch.
  const isEmpty = ref === undefined && project.empty_repo;
  const tip = isEmpty ? undefined : found('Ref', await resolveCommit(repository, name));
  const branch = await resolveBranch(repository, name);
  return {
    rule: await triedRule(services, project, given),
    repository,
    range: tip === undefined ? { tips: [] } : await newestRange(repository, tip, commits),
    branches: branch === undefined || name === project.default_branch ? [] : [name],
    deleted_tags: 0,
    is_push: true,
    counts_all: true,
  } satisfies Omit<Question, 'user_id'>;
}

/** @throws ApiError 400 if the check times out or an expression does not compile */
async function tryRule(services: Services, user_id: number, trial: Trial): Promise<Static<typeof PushRuleCheck>> {
  await checkExpressions(trial.given);
  const question = await questionOf(services, repositoryOf(services, trial.project), trial);
  try {
    const findings = await findingsOf(services, { ...question, user_id }, maximumListed);
    const { listed, violations, commits, files } = findings;
    return { checked: { commits, files }, violations: listed, violations_count: violations };
  } catch (error) {
    throw error instanceof CheckFailed ? badRequest(error.message) : error;
  }
}

export const pushRuleCheckRoutes = [
  post('/projects/:id/push_rule/check', {
    operation: 'checkProjectPushRule',
    summary: 'Test a push rule against the newest commits of a branch, tag or commit',
    description:
      'Fields of a push rule are tried in place of the stored ones; nothing is stored. The commits are checked as if the caller pushed them.',
    access: codeChecker,
    plan,
    input: {
      ref: optional(Type.String({ description: 'Branch, tag or commit; by default the default branch' })),
      commits: Type.Integer({
        minimum: 1,
        maximum: 10_000,
        default: 100,
        description: 'How many commits back from it',
      }),
      ...changes,
    },
    returns: withStatus(200, one(PushRuleCheck)),
    refusals: {
      400: ['<field>: not valid RE2 syntax: <reason>', texts.timeout, texts.invalid('<regex>', '<reason>')],
      404: '404 Ref Not Found',
    },
    handle: ({ project, caller, input: { ref, commits, ...given }, ...services }) =>
      tryRule(services, caller.id, { project, ref, commits, given }),
  }),
];
