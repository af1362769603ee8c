/** What people do on pages, from one page to the next, in a real browser: each with JavaScript and without. */
import { ownAddress } from './address.ts';
import { allowSignIns, password } from './browser.ts';
import { browserTest, type Invite, type Visitor } from './chromium.ts';
import { sent } from './sent.ts';
import { type Persona, type World, world } from './world.ts';

const environment = await ownAddress();

export interface Journey {
  here: World;
  /** A browser of someone who has signed in. */
  enter(persona: Persona): Promise<Visitor>;
  /** One of someone who has not. */
  arrive(): Promise<Visitor>;
  /** The path of the project. */
  at: string;
  javaScriptEnabled: boolean;
}

/** A journey, once with JavaScript and once without, each in a world of its own. */
export function journey(name: string, walk: (journey: Journey) => Promise<void>): void {
  for (const javaScriptEnabled of [true, false])
    browserTest(`${name}, ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, async (invite: Invite) => {
      const here = await world({ environment });
      const arrive = () => invite(here.url, { javaScriptEnabled });
      const known = new Set<Persona>();
      const enter = async (persona: Persona) => {
        const { id, username } = here.people[persona];
        // A new password ends all sessions.
        if (!known.has(persona)) await sent(here.as('admin').put(`/users/${id}`, { password }));
        known.add(persona);
        await allowSignIns(here);
        const visitor = await arrive();
        await visitor.signIn(username, password);
        return visitor;
      };
      await walk({ here, arrive, enter, javaScriptEnabled, at: `/${here.project.full_path}` });
    });
}
