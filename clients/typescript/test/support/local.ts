// A program with a server of its own: `node local.js store.db`.
import { Router } from '../../src/index.js';
import { desk } from './desk.js';

const router = await Router.local({ store: process.argv[2] ?? '' });
await router.register(desk);
console.log(`serves on ${router.server?.address}`);
if (process.argv[3] === 'stays') setInterval(() => undefined, 60_000);
