/** What the ID tokens of jobs say (docs/reference/id_tokens.md). Pure functions. */
/** What a token says of its job. */
export interface JobFacts {
  issuer: string;
  namespace: { id: number; full_path: string };
  project: { id: number; full_path: string; visibility: string };
  user: { id: number; username: string; email: string; access_level: number };
  pipeline: { id: number; source: string; sha: string; is_protected: boolean };
  job: { id: number; timeout_s: number };
  ref: { type: 'branch' | 'tag'; name: string };
  runner_id: number | null;
  environment?: { name: string; action: string | undefined; tier: string | undefined } | undefined;
}

const roles: Readonly<Record<number, string>> = {
  10: 'guest',
  15: 'planner',
  20: 'reporter',
  30: 'developer',
  40: 'maintainer',
  50: 'owner',
};

const shortest_s = 300;
const skew_s = 5;

/** The time of a token, and its own id. */
export interface Issued {
  now_s: number;
  id: string;
}

/** The claims of a token. Those with ids are texts, except for that of the runner. */
export function claimsOf(facts: JobFacts, aud: string | string[], { now_s, id }: Issued) {
  const { issuer, namespace, project, user, pipeline, job, ref, environment } = facts;
  return {
    iss: issuer,
    sub: `project_path:${project.full_path}:ref_type:${ref.type}:ref:${ref.name}`,
    aud,
    iat: now_s,
    nbf: now_s - skew_s,
    exp: now_s + Math.max(job.timeout_s, shortest_s),
    jti: id,
    namespace_id: String(namespace.id),
    namespace_path: namespace.full_path,
    project_id: String(project.id),
    project_path: project.full_path,
    project_visibility: project.visibility,
    user_id: String(user.id),
    user_login: user.username,
    user_email: user.email,
    user_access_level: roles[user.access_level] ?? null,
    pipeline_id: String(pipeline.id),
    pipeline_source: pipeline.source,
    job_id: String(job.id),
    ref: ref.name,
    ref_type: ref.type,
    ref_path: `refs/${ref.type === 'tag' ? 'tags' : 'heads'}/${ref.name}`,
    ref_protected: String(pipeline.is_protected),
    sha: pipeline.sha,
    runner_id: facts.runner_id,
    runner_environment: 'self-hosted',
    ...(environment && {
      environment: environment.name,
      environment_action: environment.action ?? 'start',
      ...(environment.tier && { deployment_tier: environment.tier }),
    }),
  };
}
