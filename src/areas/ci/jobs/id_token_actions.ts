/** The ID tokens of a job when a runner gets it (docs/reference/id_tokens.md). */
import { expanded, type Job } from '../../../ci_configuration/index.ts';
import type { Services } from '../../../http/index.ts';
import { idTokensFor } from '../id_tokens/actions.ts';
import type { JobFacts } from '../id_tokens/rules.ts';
import { type Given, refOfPipeline, type SentVariable } from './variable_queries.ts';

function factsOf({ url }: Pick<Services, 'url'>, given: Given): JobFacts {
  const { job, pipeline, project, caller, runner } = given;
  const { environment_name, job: definition } = job.definition;
  const { type, name } = refOfPipeline(pipeline);
  return {
    ...{ issuer: url, project, pipeline, job, runner_id: runner?.id ?? null },
    namespace: { id: project.namespace_id, full_path: project.full_path.slice(0, project.full_path.lastIndexOf('/')) },
    user: { ...caller, access_level: project.access_level },
    ref: { type: type === 'tag' ? 'tag' : 'branch', name },
    environment:
      environment_name === undefined
        ? undefined
        : {
            name: environment_name,
            action: definition.environment?.action,
            tier: given.environment?.tier ?? definition.environment?.deployment_tier,
          },
  };
}

/**
 * The variables of a job with its ID tokens, which replace others with their keys.
 * @throws ExpansionError
 */
export async function withIdTokens(
  services: Services,
  given: Given,
  variables: readonly SentVariable[],
): Promise<SentVariable[]> {
  const { id_tokens } = given.job.definition.job as Job;
  const values = expanded(new Map(variables.map((variable) => [variable.key, variable])));
  const tokens = await idTokensFor(services, factsOf(services, given), id_tokens, values);
  const replaced = new Set(tokens.map(({ key }) => key));
  return [...variables.filter(({ key }) => !replaced.has(key)), ...tokens];
}
