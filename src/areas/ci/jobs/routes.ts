/** The job of a job token (docs/reference/runner_protocol.md#tokens-of-jobs). */
import { projectFor, signedIn } from '../../../access/index.ts';
import { type AnyEndpoint, found, get, notFound, one } from '../../../http/index.ts';
import { Job, jobReply } from '../../code/jobs/index.ts';

export const jobTokenRoutes: AnyEndpoint[] = [
  get('/job', {
    operation: 'getJobOfToken',
    summary: 'Get the job whose token the caller has',
    access: signedIn,
    returns: one(Job),
    refusals: { 404: '404 Job Not Found' },
    handle: async ({ caller, ...services }) => {
      if (!caller.job) throw notFound('Job');
      const project = found('Job', await projectFor(services.db, caller, String(caller.job.project_id)));
      return jobReply(services, project, caller.job.id);
    },
  }),
];
