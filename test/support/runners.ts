/** A small runner: it speaks the protocol as the official one does, and executes nothing. */
import { crc32 } from 'node:zlib';
import type { World } from './world.ts';

interface Reply {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: replies of several shapes.
  body: any;
}

interface Sent {
  headers?: Record<string, string>;
  /** JSON, or text as it is. */
  body?: object | string;
}

/** A runner that waits for jobs of the project of a world. */
export async function runnerOf({ url, as, project }: World, settings: Record<string, unknown> = {}) {
  const { runners_token } = (await as('maintainer').get(`/projects/${project.id}`)).body;
  return runnerAt(url, runners_token, settings);
}

/**
 * A runner of a server.
 * @param registration the registration token of a project
 */
export async function runnerAt(url: string, registration: string, settings: Record<string, unknown> = {}) {
  const call = async (method: string, path: string, { headers = {}, body }: Sent = {}): Promise<Reply> => {
    const isText = typeof body === 'string';
    const reply = await fetch(`${url}/api/v4${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': isText ? 'text/plain' : 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
    });
    const text = await reply.text();
    const isJson = reply.headers.get('content-type')?.startsWith('application/json') ?? false;
    return { status: reply.status, headers: reply.headers, body: isJson ? JSON.parse(text) : text };
  };
  const { body: made } = await call('POST', '/runners', { body: { token: registration, ...settings } });
  const features = {
    ...{ cancel_gracefully: true, two_phase_job_commit: true, refspecs: true, return_exit_code: true },
    ...{ upload_multiple_artifacts: true, upload_raw_artifacts: true },
  };
  const info = { name: 'small', version: '17.0.0', platform: 'linux', architecture: 'amd64', features };

  const request = (more: object = {}) =>
    call('POST', '/jobs/request', { body: { token: made.token, system_id: 's_1', info, ...more } });

  /** The next job; undefined when none waits. */
  async function take() {
    const { status, body } = await request();
    return status === 201 ? held(body) : undefined;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the job as the protocol has it.
  function held(job: any) {
    let log = Buffer.alloc(0);
    const authorized = { 'job-token': job.token as string };
    const append = async (text: string, start = log.length) => {
      const range = `${start}-${start + Buffer.byteLength(text) - 1}`;
      const headers = { ...authorized, 'content-range': range };
      const reply = await call('PATCH', `/jobs/${job.id}/trace`, { headers, body: text });
      if (reply.status === 202) log = Buffer.concat([log.subarray(0, start), Buffer.from(text)]);
      return reply;
    };
    const report = (state: string, more: object = {}) =>
      call('PUT', `/jobs/${job.id}`, { body: { token: job.token, state, ...more } });
    const output = () => ({
      checksum: `crc32:${crc32(log).toString(16).padStart(8, '0')}`,
      bytesize: log.length,
    });
    const end = (state: 'success' | 'failed', more: object = {}) => report(state, { output: output(), ...more });
    return { ...(job as { id: number; token: string }), job, append, report, end, output, authorized };
  }

  return { id: made.id as number, token: made.token as string, call, request, take, held };
}

export type Runner = Awaited<ReturnType<typeof runnerAt>>;
/** A job that it was given. */
export type Held = ReturnType<Runner['held']>;
