/** The signing key of services under test: strong, and fixed so that tests can sign tokens. */
export const SECRET_KEY = "Zk3vR9wq-T1yXb6Lm8sPd0fGh2jKc4nVe5aUoIi7BtWrQzYx_EgJpNsMlHuFdCaS";
