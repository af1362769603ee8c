/** The thread that `compiling.ts` starts. It compiles one configuration after another. */
import { parentPort } from 'node:worker_threads';
import { asking, Unanswered } from '../foundation/thread_questions.ts';
import { type Facts, Judge, RuleError } from './clauses.ts';
import { compile } from './compile.ts';
import type { Answered, Asked, Compiled, Reader, ToCompiler } from './compiling.ts';
import { ExpansionError, expanded, plainValue, type Variables } from './expansion.ts';
import { masking } from './masking.ts';
import { withoutJobs } from './results.ts';
import { environmentNames, select } from './selection.ts';
import { inForce } from './variables.ts';

function readerOf({ port }: ToCompiler): Reader {
  const ask = asking<Asked, Answered>(port);
  const asks = <Name extends keyof Reader>(name: Name) =>
    ((...given: Parameters<Reader[Name]>) => ask({ name, given } as Asked)) as Reader[Name];
  return { read: asks('read'), paths: asks('paths'), changed: asks('changed'), commitOf: asks('commitOf') };
}

/** The variables for `include`. Those that need each other in a circle are taken as they are: the jobs that get them say so. */
function variablesAround(sources: ToCompiler['sources']): Variables {
  const variables = inForce(sources);
  try {
    return expanded(variables);
  } catch (error) {
    if (error instanceof ExpansionError) return variables;
    throw error;
  }
}

async function compiled(given: ToCompiler): Promise<Compiled> {
  const { content, context, sources, inputs, selects } = given;
  const reader = readerOf(given);
  const facts: Facts = { ...given.facts, ...reader };
  const variables = variablesAround(sources);
  const judge = new Judge(facts);
  const masked = Object.values(sources).flatMap((all) => all.flatMap((each) => (each.masked ? each.value : [])));
  const hide = masking(masked);
  try {
    const result = await compile({
      content,
      context,
      files: reader,
      variables: new Map([...variables.values()].map((each) => [each.key, plainValue(each)])),
      holds: (clauses, at) => judge.holds(clauses, variables, at),
      masked,
      ...(inputs && { inputs }),
    });
    const environment_names = environmentNames(result, sources).map((name) => name && hide(name));
    if (!selects || result.errors.length > 0) return { result, environment_names };
    const selection = await select(result, sources, judge);
    return { result, environment_names, selection: { ...selection, errors: selection.errors.map(hide) } };
  } catch (error) {
    // Only the rule of an include gets here: those of jobs are part of the selection.
    if (!(error instanceof RuleError)) throw error;
    return failed(hide(`Failed to parse rule for include: ${error.message}`));
  }
}

const failed = (error: string): Compiled => ({ result: withoutJobs([error]), environment_names: [] });

const withoutTheJobs = ({ result, selection }: Compiled): Compiled => ({
  result: { ...result, jobs: [] },
  environment_names: [],
  ...(selection && { selection: { ...selection, jobs: [] } }),
});

parentPort!.on('message', async (request: ToCompiler) => {
  try {
    const all = await compiled(request);
    parentPort!.postMessage(request.with_jobs ? all : withoutTheJobs(all));
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error;
    // Whoever gave the work knows why, and does not wait for this.
    parentPort!.postMessage(failed(error.message));
  }
});
