/** The kinds of events that webhooks are told of. The areas of the nouns provide them, so that the area that announces events depends on no noun. */
import type { TSchema } from 'typebox';
import type { RepositoryServices } from './repositories.ts';

/** What bodies need besides rows: addresses, and commits. */
export interface Filling extends RepositoryServices {
  ssh_url: string | undefined;
}

/** Which hooks an event is for. */
export interface Told {
  /** One of `triggers` in `areas/instance/hook_events`. */
  trigger: string;
  /** Whether it is for hooks of the server. */
  is_system: boolean;
}

/** A kind of event. */
export interface HookEventKind {
  /** As in `hook_events.event` and in the OpenAPI document. */
  name: string;
  /** What has happened, for the documentation. */
  summary: string;
  /** The triggers of hooks that receive it. */
  triggers: readonly string[];
  body: TSchema;
  /**
   * Makes the body.
   * @param snapshot of the rows, as the transaction of the change wrote it
   */
  write(services: Filling, snapshot: unknown, told: Told): Promise<unknown>;
}
