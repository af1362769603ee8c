/** The file that says which jobs a pipeline has, from its text to jobs. It imports no other folder of ours but `expressions`. */
export type { Facts } from './clauses.ts';
export { type Compiled, compileInTurn, type Reader } from './compiling.ts';
export { durationOf } from './durations.ts';
export { type CiVariable, ExpansionError, expand, expanded, type Variables } from './expansion.ts';
export { expandWithin } from './inputs.ts';
export { jobVariables, rawVariables, slugOf } from './predefined.ts';
export { withoutJobs } from './results.ts';
export { filteredText, type GivenSources, noJobsText, type SelectedJob, type Selection } from './selection.ts';
export type {
  AllowFailure,
  Bridge,
  Cache,
  FileContent,
  FileContext,
  FileRefusal,
  FileRequest,
  Image,
  Job,
  JobEnvironment,
  Need,
  Release,
  Service,
} from './types.ts';
export { Invalid } from './values.ts';
export { inForce, mostSpecific, type ScopedVariable, variablesFor } from './variables.ts';
