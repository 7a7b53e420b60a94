# fq-redis.fish - completion of fq-redis for fish: what fq has, and the two commands of its own.

complete -c fq-redis --wraps fq
complete -c fq-redis -n __fq_needs_command -a acl -d 'print the rights that fq needs on a server'
complete -c fq-redis -n __fq_needs_command -a load -d 'load the functions of fq into a server'
