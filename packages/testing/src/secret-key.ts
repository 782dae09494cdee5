/** The key that the fixture's services sign with: strong, and fixed so that tests can sign tokens of their own. */
export const SECRET_KEY = "Zk3vR9wq-T1yXb6Lm8sPd0fGh2jKc4nVe5aUoIi7BtWrQzYx_EgJpNsMlHuFdCaS";
