/** Lint: whether a configuration is valid, and which jobs a pipeline would have (docs/reference/ci_configuration.md#lint). */
import { Type } from 'typebox';
import { codeDownloader, levels, projectRole } from '../../../access/index.ts';
import { readCommit, repositoryOf, resolveCommit } from '../../../git/index.ts';
import { AnyText, deprecated, forbidden, found, get, one, optional, post } from '../../../http/index.ts';
import { lint } from './lint_actions.ts';
import { LintResult, presentLint } from './present.ts';
import { configPathOf } from './queries.ts';
import { locationOf } from './rules.ts';

const path = '/projects/:id/ci/lint';
/** A file of 2 MiB, escaped. */
const bodyLimit_bytes = 16 * 1024 * 1024;

const simulation = {
  dry_run: Type.Boolean({
    default: false,
    description: 'Whether to answer with the jobs that a push of the ref would have',
  }),
  include_jobs: Type.Boolean({ default: false, description: 'Whether to answer with the jobs' }),
};
const Ref = (which: string) => Type.String({ description: `${which}; default: the default branch` });

export const lintRoutes = [
  post(path, {
    operation: 'lintCiConfiguration',
    summary: 'Check a configuration of pipelines',
    description: 'The configuration is compiled as the file of the project would be; nothing is stored.',
    access: projectRole('developer', { archived: true }),
    body_limit_bytes: bodyLimit_bytes,
    input: { content: AnyText(), ref: optional(Ref('The branch or tag to check it for')), ...simulation },
    returns: { ...one(LintResult), status: 200 },
    handle: async ({ project, caller, input, ...services }) => {
      const { ref, dry_run, include_jobs } = input;
      const content = typeof input.content === 'string' ? input.content : Buffer.from(input.content).toString();
      const asked = { content, ref: ref || undefined, selects: dry_run, with_jobs: include_jobs };
      return presentLint(await lint(services, { project, caller }, asked), include_jobs);
    },
  }),
  get(path, {
    operation: 'lintProjectCiConfiguration',
    summary: 'Check the configuration of pipelines of a project',
    description: 'A simulation with `dry_run` is for Developers.',
    access: codeDownloader,
    input: {
      content_ref: optional(Ref('The branch, tag or commit whose file is checked')),
      sha: optional(deprecated('use `content_ref`', Type.String())),
      dry_run_ref: optional(Ref('The branch or tag to check it for')),
      ref: optional(deprecated('use `dry_run_ref`', Type.String())),
      ...simulation,
    },
    returns: one(LintResult),
    refusals: { 403: '403 Forbidden', 404: '404 Commit Not Found' },
    handle: async ({ project, caller, input, ...services }) => {
      const { dry_run, include_jobs } = input;
      if (dry_run && project.access_level < levels.developer) throw forbidden();
      const repository = repositoryOf(services, project);
      const named = input.content_ref || input.sha || project.default_branch;
      const commit = await readCommit(repository, found('Commit', await resolveCommit(repository, named)));
      const content = locationOf(await configPathOf(services.db, project.id));
      const asked = {
        content,
        commit,
        ref: input.dry_run_ref || input.ref || undefined,
        selects: dry_run,
        with_jobs: include_jobs,
      };
      return presentLint(await lint(services, { project, caller }, asked), include_jobs);
    },
  }),
];
